import Foundation
import Reprise
import RepriseProxy
import RepriseStreams

/// Keeps the stored bytes of a URL, and those that are stored later.
struct PinOperation: ControlOperation {
    typealias Progress = TransferReport

    static let name = "pin"
    static let editsTitles = true

    /// A URL or an identifier.
    let url: String
    /// When it may go again, in seconds since 1970; `nil` for when it is released.
    let until: Double?
    /// How much of the beginning is fetched and kept, such as `10s`; if it is missing, stored bytes are kept.
    let first: String?
    /// Request fields for the origin, each `Name: value`.
    var fields: [String]?
    let names: Names

    struct Outcome: Codable, Sendable {
        /// Bytes that are stored of it.
        let storedBytes: Int64
        /// When it may go again, as is now recorded.
        let until: Double?
        /// It was a download and stays one: that asks for more.
        let staysDownload: Bool
        /// It was a download, and is one no longer.
        let wasDownload: Bool
        /// It was pinned as a whole, and its beginning is kept now.
        var wasPinned = false
        /// Of a beginning, whether all of the file is stored, more than the beginning perhaps.
        var isWhole = false
        /// Why it could not be kept.
        var failure: FailedTransfer?
    }

    func run(in cache: MediaCache, progress: @escaping @Sendable (TransferReport) -> Void) async throws -> Outcome {
        if let until, !(0..<Self.latest ~= until) {
            throw RepriseError(.invalidArgument, "\"until\" is a time in seconds since 1970.")
        }
        let resource = try await names.resource(of: url, in: cache, fields: try HeaderFields.ofOperation(fields))
        try await cache.learnFiles(of: [resource.key], policy: names.policy)
        let before = try await cache.retention(of: resource)
        let staysDownload = before == .download && until == nil
        if let first {
            return try await keep(first, of: resource, in: cache, before: before, telling: progress)
        }
        if staysDownload { cache.downloads.commands.keep(resource.key) } else { try await retain(resource, in: cache) }
        return Outcome(
            storedBytes: try await cache.storedBytes(ofTitle: resource), until: until, staysDownload: staysDownload,
            wasDownload: before == .download && !staysDownload)
    }

    /// Fetches and keeps a beginning.
    ///
    /// A download asks for more, and stays one.
    private func keep(
        _ first: String, of resource: MediaResource, in cache: MediaCache, before: Retention,
        telling progress: @escaping @Sendable (TransferReport) -> Void
    ) async throws -> Outcome {
        guard until == nil, let beginning = Beginning(argument: first), !beginning.isNothing else {
            throw RepriseError(
                .invalidArgument, "\"first\" is more than nothing, such as 10s or 5MB, and goes without \"until\".")
        }
        var failure: FailedTransfer?
        if before != .download {
            let teller = TransferTeller(key: resource.key, tell: progress)
            do {
                _ = try await beginning.metered(of: resource, telling: teller) { arrived in
                    try await cache.retain(
                        resource, as: .first(beginning.amount), selection: StreamSelection(), arrived: arrived)
                }
            } catch let reason as Failure.Reason { failure = FailedTransfer(reason) }
        }
        var outcome = Outcome(
            storedBytes: try await cache.storedBytes(ofTitle: resource), until: nil, staysDownload: before == .download,
            wasDownload: false)
        if case .pinned = before { outcome.wasPinned = true }
        let progress = await resource.storedProgress()
        // The playlist of a stream is a part of its title.
        outcome.isWhole =
            progress.isComplete && outcome.storedBytes > 0 && outcome.storedBytes == progress.ranges.byteCount
        outcome.failure = failure
        return outcome
    }

    private func retain(_ resource: MediaResource, in cache: MediaCache) async throws {
        do {
            try await cache.retain(resource, as: .pinned(until: until.map { Date(timeIntervalSince1970: $0) }))
        } catch let error as RepriseError where error.code == .storageFull {
            let reason = Failure.reason(await Pin.reason(error, of: resource))
            throw reason.map { RepriseError(.storageFull, $0.message) } ?? error
        }
    }

    /// The year 9999 ends before it.
    private static let latest = 253_402_300_800.0
}

extension MediaCache {
    /// Bytes that are stored of the title that begins with `resource`.
    func storedBytes(ofTitle resource: MediaResource) async throws -> Int64 {
        let title = try await inspecting { try $0.title(of: resource.key) } ?? nil
        return max(title?.storedBytes ?? 0, await resource.storedProgress().ranges.byteCount)
    }
}
