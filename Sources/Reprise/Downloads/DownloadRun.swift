import HTTPSemantics
import Primitives

/// Fetches what is missing of one download: of a file, or of a stream with its playlists, segments and keys.
struct DownloadRun: Sendable {
    private let stream: StreamFiles
    private let selection: StreamSelection
    private let engine: Engine
    /// Told the number of bytes that have arrived; of a stream, also how far it is.
    private let report: @Sendable (Int, StreamProgress?) -> Void
    /// Told how many bytes of the first file were stored when its fetch began.
    private let began: @Sendable (Int64) -> Void

    /// Files of a stream that are fetched at once, unless the title has a tag with a limit: what arrives of one file is
    /// not counted yet where the next one is held to the limit.
    private static let width = 3
    /// The same with transfers in the background, which go on while the program does not run.
    ///
    /// Apple recommends batches of about a hundred: iOS delays transfers that begin in the background, longer after
    /// each launch. The system decides how many run at once.
    private static let backgroundWidth = 100

    init(
        _ item: DownloadQueue.Item, engine: Engine, began: @escaping @Sendable (Int64) -> Void = { _ in },
        report: @escaping @Sendable (Int, StreamProgress?) -> Void
    ) {
        var request = item.request
        request.demand = .download
        stream = StreamFiles(
            key: item.key, request: request, engine: engine,
            keyPolicy: item.keyRule?.policy ?? engine.configuration.keyPolicy)
        (selection, self.engine, self.began, self.report) = (item.selection, engine, began, report)
    }

    /// Fetches the missing bytes.
    ///
    /// A stream that is stored as its stored playlists say is not looked up at the origin again. Throws as soon as it
    /// turns out that the bytes cannot be stored.
    func fetch() async throws {
        if try await claimStoredStream() {
            try await stream.giveUpUnnamed()
            return
        }
        try await engine.authorizer?.prepare(stream.request)
        let old = Mutex<[CacheKey: FileDownload.Fetched]>([:])
        do {
            try await fetchListed(noting: old)
        } catch let error as RepriseError where error.saysGone || error.code == .notDownloadable {
            // The playlists were stored by an earlier run, and the stream may be another one by now. They stay usable:
            // if only a log-in has expired, the stored files play as before.
            let playlists = old.withLock { $0 }
            guard !playlists.isEmpty else { throw error }
            try Task.checkCancellation()
            try await fetchListed(noting: old, validating: playlists)
        }
    }

    /// Fetches the file, or what the playlists of the stream list; those of which nothing was fetched are put in
    /// `old`.
    ///
    /// The origin is asked whether the stored `playlists` are current, however fresh they are.
    private func fetchListed(
        noting old: Mutex<[CacheKey: FileDownload.Fetched]>,
        validating playlists: [CacheKey: FileDownload.Fetched] = [:]
    ) async throws {
        var count = 0
        var former = playlists[stream.key]
        let first = stream.first.validating(former != nil)
        if former == nil { former = try await stream.storedPlaylist(first) }
        let fetched = try await again(first) { first in
            try await first.fetch(returningUpTo: stream.textLimit, began: began) {
                count += $0
                report($0, nil)
            }
        }
        guard let document = stream.document(fetched, from: stream.request.url) else {
            if let objection = try await stream.objection(toLong: first, fetched.information) {
                if count > 0 { try await first.drop() }
                throw objection
            }
            return try await check(first, fetched.information)
        }
        if count == 0 { old.withLock { $0[stream.key] = fetched } }
        if let objection = stream.objection(to: fetched) {
            // Keep bytes that were stored earlier, because players may be using them.
            if count > 0 { try await first.drop() }
            throw objection
        }
        let loaded = Mutex<[CacheKey: LoadedPlaylist]>([
            stream.key: LoadedPlaylist(file: stream.first, byteCount: Int64(document.bytes.count))
        ])
        let renewed = Mutex(stream.isRenewed(fetched, since: former) ? [stream.first] : [])
        let files = try await plan(document) { url in
            var count = 0
            let key = stream.member(at: url).key
            let playlist = try await stream.playlist(at: url, validating: playlists[key]) {
                count += $0
                report($0, nil)
            }
            if count == 0 { old.withLock { $0[key] = playlist.fetched } }
            if playlist.isRenewed { renewed.withLock { $0.append(playlist.file) } }
            loaded.withLock {
                $0[key] = LoadedPlaylist(file: playlist.file, byteCount: Int64(playlist.text.bytes.count))
            }
            return playlist.text
        }
        guard let files else { return }
        let loadedPlaylists = loaded.withLock { $0 }
        let members = files.map(member)
        let lists = renewed.withLock { $0 }
        await stream.validate(members, renewed: lists)
        try stream.settle(lists)
        try stream.assignRole(namesPlaylists: loadedPlaylists.count > 1)
        try await fetch(members, playlists: Array(loadedPlaylists.values))
        // Once more: what another title fetched in the meantime was not stored yet, and belongs to both.
        stream.note(Array(loadedPlaylists.keys) + members.map(\.key))
        try await stream.giveUpUnnamed()
    }

    /// Drops the only file and throws an error if its first bytes show that it is not media.
    private func check(_ file: FileDownload, _ information: ContentInformation) async throws {
        guard let known = try await engine.resource(file.key).stored(for: file.request) else { return }
        let beginning = await known.storedBeginning(atMost: Int64(BodyBeginning.length))
        guard
            let objection = StreamContent.title.objection(to: information, beginning: beginning, at: file.request.url)
        else { return }
        try await file.drop()
        throw objection
    }

    /// Runs `work` with `file`, once more if the origin has another file by now: its bytes do not continue those that
    /// were stored.
    ///
    /// If the origin has sent the whole of the other one in place of what was missing, that is not asked for again.
    private func again<T>(_ file: FileDownload, _ work: (FileDownload) async throws -> T) async throws -> T {
        let successor = Successor()
        defer { successor.end() }
        let file = file.leaving(to: successor)
        do {
            return try await work(file)
        } catch let error as RepriseError where error.code == .validatorChanged {
            try Task.checkCancellation()
            return try await work(file)
        }
    }

    // MARK: - The files of a stream

    private func plan(
        _ document: StreamDocument, load: (ResourceURL) async throws -> StreamDocument
    ) async throws -> [StreamFile]? {
        try await engine.configuration.streamPlanner?.files(of: document, selection: selection, load: load)
    }

    private func member(_ file: StreamFile) -> FileDownload {
        var member = stream.member(at: file.url, isKey: file.isKey, role: .endedSegment)
        member.ranges = file.ranges
        return member
    }

    /// Whether all is stored as ``storedStream()`` says; the files belong to the title then, though they may have been
    /// stored one by one.
    private func claimStoredStream() async throws -> Bool {
        var empty: [FileDownload] = []
        guard var files = try await storedStream(noteEmpty: { empty.append($0) }) else { return false }
        if !empty.isEmpty {
            try await validate(empty)
            guard let renewed = try await storedStream() else { return false }
            files = renewed
        }
        try await claim(files)
        // Some may have gone with another title in the meantime.
        return try await recordedKeys(of: files).isSuperset(of: files)
    }

    /// Makes `files` files of the title: from here on, those that are stored go with no other title.
    private func claim(_ files: [CacheKey]) async throws {
        try await engine.claims.take()
        defer { engine.claims.leave() }
        stream.note(files)
    }

    /// Asks the origin whether media that are stored as `empty` files are empty still: an upload that was broken off
    /// leaves such a file, with a validator, until it is repeated.
    ///
    /// Where the origin does not answer, or refuses them, they stay.
    private func validate(_ empty: [FileDownload]) async throws {
        do { try await engine.authorizer?.prepare(stream.request) } catch is RepriseError { return }
        for member in empty {
            do {
                try await again(member.validating(true)) { file in
                    _ = try await file.fetch { report($0, nil) }
                }
            } catch let error as RepriseError {
                if Download.Obstacle(error) == .network { return }
            }
        }
    }
    /// The keys of all files, if the first one is a playlist and all is stored that it and the other stored playlists
    /// name; `nil` otherwise.
    ///
    /// `noteEmpty` is called with media that are stored as empty files.
    func storedStream(noteEmpty: (FileDownload) -> Void = { _ in }) async throws -> [CacheKey]? {
        guard let fetched = try await stream.storedPlaylist(stream.first),
            let document = stream.document(fetched, from: stream.request.url)
        else { return nil }
        var progress = StreamProgress()
        var keys = [stream.key]
        let files: [StreamFile]?
        do {
            files = try await plan(document) { url in
                let file = stream.member(at: url)
                guard let fetched = try await file.readStored(), let document = stream.document(fetched, from: url)
                else { throw RepriseError(.notStored, "A playlist is not stored.") }
                progress.note(Int64(document.bytes.count))
                keys.append(file.key)
                return document
            }
        } catch let error as RepriseError where error.code == .notStored || error.code == .notDownloadable {
            // The origin may have another version by now.
            return nil
        }
        guard let files else { return nil }
        progress.note(Int64(document.bytes.count))
        let members = files.map(member)
        for member in members {
            try Task.checkCancellation()
            let (byteCount, isWhole) = try await member.stored()
            guard isWhole else { return nil }
            if byteCount == 0, member.content == .media { noteEmpty(member) }
            progress.note(byteCount)
            keys.append(member.key)
        }
        guard try await stream.impostors(among: members).isEmpty else { return nil }
        report(0, progress)
        return keys
    }

    /// Those of `keys` of which something is stored.
    ///
    /// Each of them is looked at by itself; of a film of which nothing is stored yet, that would take seconds.
    private func recordedKeys(of keys: [CacheKey]) async throws -> Set<CacheKey> {
        guard let store = engine.store else { return [] }
        let live = Set(keys.filter { engine.liveResource($0)?.liveGeneration != nil })
        return try await store.index.look { try $0.entries.recorded(keys) }.union(live)
    }

    /// A playlist that was read, and has so many bytes.
    private struct LoadedPlaylist {
        let file: FileDownload
        let byteCount: Int64
    }

    /// A file that is missing, or empty.
    private struct Missing: Sendable {
        let file: FileDownload
        let storedBytes: Int64
        /// Whether it is empty: it stays if the origin does not answer, or refuses it.
        var isStored = false
    }

    /// Makes `members` and the playlists files of the title; returns which are missing, with how much of them is
    /// stored.
    private func claim(
        _ members: [FileDownload], playlists: [LoadedPlaylist]
    ) async throws -> (missing: [Missing], progress: StreamProgress) {
        try await claim(playlists.map(\.file.key) + members.map(\.key))
        var progress = StreamProgress(files: playlists.count + members.count, storedFiles: 0, storedBytes: 0)
        var missing: [Missing] = []
        for playlist in playlists {
            // One that is there no more went with another title since it was read.
            let isWhole = try await playlist.file.stored().isWhole
            progress.storedBytes += isWhole ? playlist.byteCount : 0
            progress.storedFiles += isWhole ? 1 : 0
            if !isWhole { missing.append(Missing(file: playlist.file, storedBytes: 0)) }
        }
        let recorded = try await recordedKeys(of: members.map(\.key))
        for member in members {
            try Task.checkCancellation()
            let (byteCount, isWhole) = recorded.contains(member.key) ? try await member.stored() : (0, false)
            // Those that are empty are looked up as ``validate(_:)`` says, with what is missing.
            let isEmpty = isWhole && byteCount == 0 && member.content == .media
            progress.storedBytes += byteCount
            progress.storedFiles += isWhole && !isEmpty ? 1 : 0
            if !isWhole || isEmpty {
                missing.append(
                    Missing(file: member.validating(isEmpty), storedBytes: byteCount, isStored: isEmpty))
            }
        }
        return (missing, progress)
    }

    /// Fetches `members`, and refetches files that turn out not to be media.
    private func fetch(_ members: [FileDownload], playlists: [LoadedPlaylist]) async throws {
        try await fetchMissing(members, playlists: playlists)
        guard try await dropImpostors(among: members) != nil else { return }
        try await fetchMissing(members, playlists: playlists)
        if let objection = try await dropImpostors(among: members) { throw objection }
    }

    /// Fetches the missing bytes of `members`, and records the members and playlists as files of the title.
    private func fetchMissing(_ members: [FileDownload], playlists: [LoadedPlaylist]) async throws {
        let (missing, progress) = try await claim(members, playlists: playlists)
        let tally = StreamTally(progress, report: report)
        let width =
            try engine.store?.index.titles.limitedTags(ofFile: stream.key).isEmpty == false
            ? 1 : engine.background == nil ? Self.width : Self.backgroundWidth
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, member) in missing.enumerated() {
                if number >= width { try await group.next() }
                group.addTask {
                    var counted = member.storedBytes
                    do {
                        try await again(member.file) { file in
                            _ = try await file.fetch { count in
                                counted += Int64(count)
                                tally.add(bytes: Int64(count), arrived: count)
                            }
                        }
                    } catch let error as RepriseError {
                        guard member.isStored else { throw error }
                    }
                    // At once: removing another title that has it, too, must not take it away.
                    stream.note([member.file.key])
                    // What was stored of a file that has changed is gone.
                    let surplus = counted - (try await member.file.stored().byteCount)
                    tally.add(bytes: -surplus, files: 1)
                }
            }
            try await group.waitForAll()
        }
    }

    /// Drops the `members` that are not media; returns the error for the first one.
    private func dropImpostors(among members: [FileDownload]) async throws -> RepriseError? {
        let impostors = try await stream.impostors(among: members)
        for (file, _) in impostors { try await file.drop() }
        return impostors.first?.objection
    }
}

extension RepriseError {
    /// Whether the origin has nothing there (any more): RFC 9110 §15.5.5, §15.5.11.
    fileprivate var saysGone: Bool { refusal.map { [404, 410].contains($0.head.status.code) } ?? false }
}
