import ArgumentParser
import HTTPSemantics
import Playlists
import Primitives
import Reprise
import RepriseProxy
import RepriseStreams

/// Downloads one URL, and keeps it until it is released, or as it was kept before; ends when all of it is stored.
///
/// One that is ended early is paused, unless it was under way before, or others wait for it: then it goes on.
struct DownloadOperation: ControlOperation {
    typealias Progress = TransferReport

    static let name = "download"

    let url: String
    /// What of a stream is downloaded, as the options of the command say it.
    let quality, codec, audio, subtitles: String?
    /// Whether it is paused when the last operation that waits for it is ended early, unless it was under way before.
    let pause: Bool?
    /// Whether it has its former retention again at the end.
    ///
    /// A title that was a download before stays one, with its own selection.
    var releases: Bool?
    /// Whether it ends as soon as the download is in the list.
    var background: Bool?
    /// Request fields for the origin, each `Name: value`; never stored.
    var fields: [String]?
    let names: Names

    struct Outcome: Codable, Sendable {
        /// Bytes that are stored of it.
        var storedBytes: Int64 = 0
        /// Why it could not be downloaded.
        var failure: FailedTransfer?
        /// Whether it stays a download nevertheless, and waits for room.
        var isWaiting: Bool?
        /// The URLs in it, if it is a plain list of files; they are not downloaded with it.
        var listed: [String]?
    }

    func run(in cache: MediaCache, progress: @escaping @Sendable (TransferReport) -> Void) async throws -> Outcome {
        var selection = try selection()
        let resource = try names.resource(for: url, in: cache, fields: try HeaderFields.ofOperation(fields))
        try await cache.learnFiles(of: [resource.key], policy: names.policy)
        let commands = cache.downloads.commands
        if background == true {
            // Otherwise another command that ends could pause or release it.
            await commands.join(resource.key, pausing: false)
            let result: Result<Void, any Error>
            do { result = .success(try await add(resource, to: cache, selection: selection)) } catch {
                result = .failure(error)
            }
            _ = try await commands.leave(resource.key, isCanceled: false)
            try result.get()
            return Outcome(storedBytes: try await cache.storedBytes(ofTitle: resource))
        }
        if releases == true {
            if let former = await commands.former(resource.key) { selection = former.selection }
            await commands.join(resource.key, pausing: false, releasing: try await cache.retention(of: resource))
        } else {
            await commands.join(resource.key, pausing: pause == true)
        }
        let result: Result<Outcome, any Error>
        do {
            result = .success(try await download(resource, selection: selection, in: cache, progress: progress))
        } catch { result = .failure(error) }
        var isCanceled = false
        if case .failure(is CancellationError) = result { isCanceled = true }
        // In a task of its own, because this one may be canceled.
        try await Task { [isCanceled] in
            let released = try await commands.leave(resource.key, isCanceled: isCanceled)
            if let released, try await cache.retention(of: resource) == .download {
                try await cache.retain(resource, as: released)
            }
        }.value
        return try result.get()
    }

    private func download(
        _ resource: MediaResource, selection: StreamSelection, in cache: MediaCache,
        progress: @escaping @Sendable (TransferReport) -> Void
    ) async throws -> Outcome {
        let before = try await cache.retention(of: resource)
        let former = await cache.downloads.commands.former(resource.key)
        let isOtherChoice = former.map { $0.selection != selection } ?? false
        let formerFiles =
            isOtherChoice ? try await cache.inspector()?.entries(ofTitle: resource.key).map(\.key) ?? [] : []
        let teller = TransferTeller(key: resource.key, tell: progress)
        do {
            try await add(resource, to: cache, selection: selection)
            async let _ = Self.follow(resource.key, in: cache, telling: teller)
            let isOwn = former.map { $0.selection == selection } ?? (releases != true)
            if let outcome = try await Self.end(
                of: resource, selection: selection, mayWait: isOwn, inServer: pause == true, in: cache)
            {
                return outcome
            }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            let reason = error as? Failure.Reason
            if let former {
                // What came of a choice that does not fit would be kept with the stream, and never be whole.
                if isOtherChoice, reason?.saysNotStored == true {
                    try await cache.removeFiles(ofTitle: resource.key, besides: Set(formerFiles))
                }
                try await cache.downloads.commands.putBack(former)
            } else if !cache.downloads.commands.goesOn(resource.key) {
                try await cache.retain(resource, as: before)
            }
            guard let reason else { throw error }
            return Outcome(failure: FailedTransfer(reason))
        }
        // The last change may have come too late to be followed.
        if let download = await cache.downloads.list().first(where: { $0.key == resource.key }) {
            if let files = download.files { teller.note(files) }
            teller.note(bytes: download.storedBytes, fromStore: Self.storedBefore(download))
        }
        return Outcome(
            storedBytes: try await cache.storedBytes(ofTitle: resource), listed: try await Self.listed(in: resource))
    }

    /// The URLs in the stored list of files; `nil` for everything else.
    private static func listed(in resource: MediaResource) async throws -> [String]? {
        guard let information = await resource.stored()?.information,
            information.completeLength ?? .max <= longestList
        else { return nil }
        let bytes = try await resource.storedBeginning(atMost: longestList, fields: [:])
        let base = information.finalURL ?? resource.url
        let type = MediaType(information.mediaType)?.essence
        let isList =
            PlaylistFormat(of: bytes) == .hls
            || PlaylistFormat.isDeclared(by: type, name: resource.url.lastPathComponent)
        guard isList, !StreamText.begins(bytes), !bytes.contains(0) else { return nil }
        // Many programs write lists in Latin-1.
        let text = String(utf8: bytes) ?? String(decoding: bytes.map { UInt16($0) }, as: UTF16.self)
        // Players accept names with spaces.
        let lines = URLList.items(in: text, named: resource.url.redacted).map { $0.url.replacing(" ", with: "%20") }
        guard lines.count <= mostListed else {
            throw RepriseError(
                .notDownloadable, "The list \(resource.url.redacted) has more than \(mostListed) files.")
        }
        // A line that is no URL is reported when it is downloaded.
        return lines.map { (try? base.resolving($0).description) ?? $0 }
    }

    private static let mostListed = 10_000
    /// Bytes of the longest list whose files are named.
    private static let longestList: Int64 = 1 << 20

    private func selection() throws -> StreamSelection {
        var options = StreamOptions()
        (options.quality, options.codec, options.audio, options.subtitles) = (quality, codec, audio, subtitles)
        do { return try options.selection() } catch {
            throw RepriseError(.invalidArgument, (error as? ValidationError)?.message ?? "The selection is wrong.")
        }
    }

    private func add(_ resource: MediaResource, to cache: MediaCache, selection: StreamSelection) async throws {
        do { try await cache.downloads.add(resource, selection: selection) } catch let error as RepriseError {
            throw error.code == .storageFull ? await Pin.reason(error, of: resource) : error
        }
    }

    /// Tells how far the download is, until the task is canceled.
    fileprivate static func follow(
        _ key: CacheKey, in cache: MediaCache, telling teller: TransferTeller
    ) async {
        var isFirst = true
        for await list in cache.downloads.updates() {
            guard let download = list.first(where: { $0.key == key }) else { continue }
            if case .waiting(.schedule, let error) = download.state {
                teller.wait(because: error)
            } else {
                teller.wait(because: nil)
            }
            teller.noteYielding(download.yieldsToPlayback)
            let stored = storedBefore(download)
            let isOther = teller.report.total.map { $0 != download.completeLength } ?? false
            // The first look may come before the run, and a run is told of before its file is looked up.
            var hasBegun = download.storedBefore != nil
            if case .running = download.state {} else { hasBegun = hasBegun || !isFirst }
            if hasBegun, isOther || !teller.report.hasBegun {
                teller.begin(total: download.completeLength, stored: stored)
            }
            if let files = download.files { teller.note(files) }
            teller.note(bytes: download.storedBytes, fromStore: stored)
            isFirst = false
        }
    }

    /// Bytes of `download` that its run did not fetch.
    private static func storedBefore(_ download: Download) -> Int64 {
        // If the file has changed, those of an earlier run are gone.
        min(download.storedBefore ?? download.storedBytes, download.storedBytes)
    }

    /// Waits until it is done, and returns `nil`, or until others have made something else of it.
    ///
    /// Throws if it cannot go on. With `mayWait`, one that can when there is more room stays, and waits for that.
    fileprivate static func end(
        of resource: MediaResource, selection: StreamSelection, mayWait: Bool, inServer: Bool, in cache: MediaCache
    ) async throws -> Outcome? {
        for await list in cache.downloads.updates(every: .zero) {
            let download = list.first { $0.key == resource.key }
            switch download?.state {
            case .done:
                guard download?.files != nil, download?.selection != selection else { return nil }
                return endedByOthers(
                    resource, "replaced",
                    "is stored as others have chosen since then, with other qualities or languages. To have these: run "
                        + "the same command again.")
            case .waiting(.schedule, _): continue
            case .failed(let error) where error.remedy == .logIn:
                throw Failure.Reason(
                    code: Failure.code(error), name: error.code.description,
                    message: "\(error.explanation) \(DownloadTrouble.logIn)")
            case .waiting(.space, let error) where mayWait:
                if let outcome = try await waiting(for: error, resource, inServer: inServer, in: cache) {
                    return outcome
                }
                throw await Pin.reason(error, of: resource, isDownload: true)
            case .failed(let error), .waiting(_, let error):
                throw await Pin.reason(error, of: resource, isDownload: true)
            case .queued, .running: continue
            case .paused:
                return endedByOthers(
                    resource, "paused", "was paused by others. To go on: reprise downloads --resume URL")
            case nil: return endedByOthers(resource, "removed", "was removed or released by others.")
            }
        }
        try Task.checkCancellation()
        return nil
    }

    /// What is said of a download that waits because of `error`; `nil` if more room does not help.
    private static func waiting(
        for error: RepriseError, _ resource: MediaResource, inServer: Bool, in cache: MediaCache
    ) async throws -> Outcome? {
        let stored = try await cache.storedBytes(ofTitle: resource)
        guard let obstacle = await Pin.obstacle(error, to: resource, isDownload: true),
            await obstacle.endsWithRoom(for: resource, stored: stored)
        else { return nil }
        let what = stored > 0 ? "The download waits with \(ByteCount(stored)) stored" : "The download waits"
        // A server continues its downloads.
        let how = inServer ? "goes on by itself" : "goes on in the next command that fetches"
        let reason = await Pin.unstorable(resource, because: obstacle)
        return Outcome(
            storedBytes: stored,
            failure: FailedTransfer(.notStored("\(reason)\n\(what), and \(how) when there is room.")),
            isWaiting: true)
    }

    private static func endedByOthers(_ resource: MediaResource, _ name: String, _ words: String) -> Outcome {
        Outcome(
            failure: FailedTransfer(
                Failure.Reason(code: ExitCode(1), name: name, message: "\(resource.url.redacted) \(words)")))
    }
}

/// Waits for a download in the list, and retries it if it has failed; its request and its selection stay as they are.
struct ContinueOperation: ControlOperation {
    typealias Progress = TransferReport
    typealias Outcome = DownloadOperation.Outcome

    static let name = "continue"

    /// The identifier of the download.
    let id: String
    /// Whether a server runs it, which continues its downloads.
    let isInServer: Bool?

    func run(in cache: MediaCache, progress: @escaping @Sendable (TransferReport) -> Void) async throws -> Outcome {
        guard let download = await cache.downloads.list().first(where: { cache.id(of: $0.key) == id }) else {
            throw RepriseError(.notStored, "The download was removed.")
        }
        let resource = try cache.resource(for: download.url, key: download.key)
        if case .failed = download.state { try await cache.downloads.resume(download.key) }
        let teller = TransferTeller(key: download.key, tell: progress)
        async let _ = DownloadOperation.follow(download.key, in: cache, telling: teller)
        do {
            let ended = try await DownloadOperation.end(
                of: resource, selection: download.selection, mayWait: true, inServer: isInServer == true, in: cache)
            if let ended { return ended }
        } catch let reason as Failure.Reason { return Outcome(failure: FailedTransfer(reason)) }
        return Outcome(storedBytes: try await cache.storedBytes(ofTitle: resource))
    }
}
