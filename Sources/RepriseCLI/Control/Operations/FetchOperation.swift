import ArgumentParser
import Playlists
import Reprise
import RepriseProxy

/// Fetches what is missing of one URL.
struct FetchOperation: ControlOperation {
    typealias Progress = TransferReport

    static let name = "fetch"

    let url: String
    /// How much of the beginning, such as `10s`; everything if it is missing.
    let first: String?
    /// Fields sent to the origin, each `Name: value`.
    let fields: [String]?
    /// Whether the bytes are wanted, too.
    let body: Bool?
    /// Whether the origin is asked if the stored file is current, however fresh it is.
    var refresh: Bool?
    let names: Names

    struct Outcome: Codable, Sendable {
        /// How far it was at the end.
        let progress: TransferReport
        /// Of a beginning, the bytes that were fetched.
        var fetchedBytes: Int64?
        /// Of a beginning, whether the file has no bytes.
        var isEmpty: Bool?
        /// Why not all of it is stored, although all of it was read for its bytes.
        var obstacle: String?
        /// Whether the file is a stream's playlist; the stream's other files were not fetched.
        var isPlaylist: Bool?
        /// Why nothing more was done.
        var failure: FailedTransfer?
    }

    func run(in cache: MediaCache, progress: @escaping @Sendable (TransferReport) -> Void) async throws -> Outcome {
        try await run(in: cache, progress: progress) { _ in }
    }

    func run(
        in cache: MediaCache, progress: @escaping @Sendable (TransferReport) -> Void,
        body: @escaping @Sendable ([UInt8]) async throws -> Void
    ) async throws -> Outcome {
        let resource = try names.resource(for: url, in: cache, fields: try HeaderFields.ofOperation(fields))
        let transfer = Transfer(
            resource: resource, name: URLText.name(of: url), downloads: cache.downloads,
            isValidating: refresh == true)
        let teller = TransferTeller(key: resource.key, tell: progress)
        do {
            if let first {
                guard self.body != true, let beginning = Beginning(argument: first), !beginning.isNothing else {
                    throw RepriseError(
                        .invalidArgument,
                        "\"first\" is more than nothing, such as 10s or 5MB, and goes without \"body\".")
                }
                let count = try await beginning.metered(of: resource, telling: teller) { arrived in
                    try await resource.preload(beginning.amount, arrived: arrived)
                }
                let isEmpty = count == 0 ? await resource.storedProgress().ranges.isEmpty : false
                return Outcome(progress: teller.report, fetchedBytes: count, isEmpty: isEmpty)
            }
            let end = try await transfer.run(telling: teller, into: self.body == true ? body : nil)
            return Outcome(
                progress: teller.report, obstacle: end.obstacle?.advice, isPlaylist: end.isPlaylist ? true : nil)
        } catch let reason as Failure.Reason {
            return Outcome(progress: teller.report, failure: FailedTransfer(reason))
        } catch let error as RepriseError where error.obstacle == .offline {
            let reason = Failure.Reason.notStored(await Pin.unstorable(resource, because: .offline))
            return Outcome(progress: teller.report, failure: FailedTransfer(reason))
        }
    }
}

/// One file on its way into the cache and, where its bytes are wanted, to those who want them.
private struct Transfer: Sendable {
    typealias Sink = @Sendable ([UInt8]) async throws -> Void

    let resource: MediaResource
    let name: String
    /// Their hours are those of this file, too.
    let downloads: Downloads
    let isValidating: Bool

    /// A body whose length is not known is compared with the limits after so many bytes each.
    private static let judgedBytes: Int64 = 1 << 20

    /// The result of a transfer.
    struct End {
        /// Why the file is not completely stored; `nil` if it is.
        var obstacle: StorageObstacle?
        /// Whether the file is a stream's playlist.
        var isPlaylist = false
    }

    /// Fetches the missing bytes.
    ///
    /// Without `sink`, no one else needs the bytes, so it fails as soon as the file cannot be stored completely. Throws
    /// if the response is a web page.
    func run(telling teller: TransferTeller, into sink: Sink?) async throws -> End {
        let before = await resource.storedProgress()
        if !before.isComplete || isValidating { try await waitForHours(telling: teller) }
        let whole = try await resource.readWhole(isValidating: isValidating)
        // Where the file has changed, what was stored of it is gone.
        let stored = min(before.ranges.byteCount, await resource.storedProgress().ranges.byteCount)
        let read = whole.read
        defer { read.cancel() }
        if isValidating, before.isComplete, read.originStatus ?? 500 >= 400 {
            throw Failure.Reason(
                code: ExitCode(69), name: "\(RepriseError.Code.originUnreachable)",
                message: "The origin could not be asked whether \(name) has changed. The stored file stays as it is.")
        }
        // Of an empty file there is nothing to store, whatever the store makes of it.
        if read.isOfEmptyFile {
            teller.begin(total: 0, stored: 0)
            while try await read.next() != nil {}
            return End()
        }
        teller.begin(total: read.count, stored: whole.obstacle == nil ? stored : 0)
        var (obstacle, isPlaylist) = (whole.obstacle, false)
        var (bytes, judged): (Int64, Int64) = (0, 0)
        while true {
            if let obstacle, sink == nil {
                throw Failure.Reason.notStored("\(name) cannot be stored as a whole: \(obstacle.advice)")
            }
            let count: Int
            if bytes == 0 {
                guard let first = try await self.first(of: read, telling: teller) else { break }
                if let objection = StreamContent.title.objection(
                    to: read.information, beginning: first, at: resource.url)
                {
                    read.cancel()
                    if stored == 0 { await resource.drop() }
                    throw objection
                }
                isPlaylist = StreamText.begins(first)
                try await sink?(first)
                count = first.count
            } else {
                guard let next = try await step(read, telling: teller, into: sink) else { break }
                count = next
            }
            bytes += Int64(count)
            teller.note(bytes: bytes, fromStore: read.servedBytes(from: .store))
            if obstacle == nil { obstacle = await resource.obstacle(of: read) }
            if obstacle == nil, read.count == nil, bytes - judged >= Self.judgedBytes {
                judged = bytes
                if await resource.obstacle(toStoring: bytes) != nil { obstacle = await resource.obstacleToMore() }
            }
        }
        if obstacle == nil, await !resource.storedProgress().isComplete {
            obstacle = await resource.obstacle(toStoring: bytes) ?? .store(reason: "parts of it were evicted.")
        }
        if obstacle == nil { obstacle = await resource.loss() }
        return End(obstacle: obstacle, isPlaylist: isPlaylist)
    }

    /// Waits until something may be downloaded: what is not read is not fetched far ahead.
    private func waitForHours(telling teller: TransferTeller) async throws {
        guard let reason = downloads.closing else { return }
        teller.wait(because: reason)
        try await downloads.waitUntilOpen()
        teller.wait(because: nil)
    }

    /// The first piece of the body, from which its format is detected; `nil` for an empty body.
    private func first(of read: MediaRead, telling teller: TransferTeller) async throws -> [UInt8]? {
        if read.mustWait { try await waitForHours(telling: teller) }
        return try await read.nextBytes()
    }

    /// Takes the next piece, and hands it on if its bytes are wanted; returns its length, or `nil` at the end.
    private func step(_ read: MediaRead, telling teller: TransferTeller, into sink: Sink?) async throws -> Int? {
        if read.mustWait { try await waitForHours(telling: teller) }
        guard let sink else { return try await read.next()?.count }
        guard let bytes = try await read.nextBytes() else { return nil }
        try await sink(bytes)
        return bytes.count
    }
}

/// Detects the playlist of a stream by its first bytes.
enum StreamText {
    /// Whether a file that begins with `bytes` is a stream's playlist, not a plain M3U list of songs.
    static func begins(_ bytes: [UInt8]) -> Bool {
        switch PlaylistFormat(of: bytes) {
        case .hls: String(decoding: bytes.prefix(64 << 10), as: UTF8.self).contains("#EXT-X-")
        case .dash: true
        case nil: false
        }
    }
}
