import Primitives

/// Fetches what is missing of one download: of a file, or of a stream with its playlists, segments and keys.
struct DownloadRun: Sendable {
    /// How far the download of a stream is.
    struct StreamProgress: Sendable {
        /// Number of its files, playlists included.
        var files = 0
        /// Number of those that are stored as wholes.
        var storedFiles = 0
        /// Bytes of them on disk.
        var storedBytes: Int64 = 0

        /// The bytes of all files; `nil` while some are missing, whose lengths no playlist says.
        var completeLength: Int64? { storedFiles == files ? storedBytes : nil }
    }

    private let stream: StreamFiles
    private let selection: StreamSelection
    private let engine: Engine
    /// Told the number of bytes that have arrived; of a stream, also how far it is.
    private let report: @Sendable (Int, StreamProgress?) -> Void

    /// Files of a stream that are fetched at once.
    private static let width = 3

    init(
        _ item: DownloadQueue.Item, engine: Engine, report: @escaping @Sendable (Int, StreamProgress?) -> Void
    ) {
        var request = item.request
        request.demand = .download
        stream = StreamFiles(key: item.key, request: request, engine: engine)
        (selection, self.engine, self.report) = (item.selection, engine, report)
    }

    /// Fetches the missing bytes.
    ///
    /// A stream that is stored as its stored playlists say is not looked up at the origin again. Throws as soon as it
    /// turns out that the bytes cannot be stored.
    func fetch() async throws {
        if let files = try await storedStream() {
            // They may have been stored one by one, and belong to nothing that is kept.
            engine.store?.recorder.note(files, in: stream.title)
            return
        }
        try await engine.authorizer?.prepare(stream.request)
        let fetched = try await stream.first.fetch(returningUpTo: stream.textLimit) { report($0, nil) }
        guard let document = stream.document(fetched, from: stream.request.url) else { return }
        let loaded = Mutex<Set<CacheKey>>([stream.key])
        let files = try await plan(document) { url in
            let (key, text) = try await stream.playlist(at: url) { report($0, nil) }
            loaded.withLock { _ = $0.insert(key) }
            return text
        }
        guard let files else { return }
        let playlists = loaded.withLock { $0 }
        try stream.assignRole(namesPlaylists: playlists.count > 1)
        try await fetch(files, playlists: playlists)
    }

    // MARK: - The files of a stream

    private func plan(
        _ document: StreamDocument, load: (ResourceURL) async throws -> StreamDocument
    ) async throws -> [StreamFile]? {
        try await engine.configuration.streamPlanner?.files(of: document, selection: selection, load: load)
    }

    private func member(_ file: StreamFile) -> FileDownload {
        stream.member(at: file.url, isKey: file.isKey, role: .endedSegment)
    }

    /// The keys of all files, if the first one is a playlist and all is stored that it and the other stored playlists
    /// name; `nil` otherwise.
    func storedStream() async throws -> [CacheKey]? {
        guard let known = try await engine.resource(stream.key).stored(for: stream.request),
            let limit = stream.textLimit(known.information), known.information.completeLength ?? .max <= limit,
            let fetched = try await stream.first.readStored(),
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
        for file in files {
            let member = member(file)
            let (byteCount, isWhole) = try await member.stored()
            guard isWhole else { return nil }
            progress.note(byteCount)
            keys.append(member.key)
        }
        report(0, progress)
        return keys
    }

    /// Fetches what is missing of `files`, and makes them and the playlists files of the title.
    private func fetch(_ files: [StreamFile], playlists: Set<CacheKey>) async throws {
        let members = files.map(member)
        engine.store?.recorder.note(Array(playlists) + members.map(\.key), in: stream.title)
        let tally = Mutex(StreamProgress(files: playlists.count + files.count, storedFiles: playlists.count))
        var missing: [FileDownload] = []
        for member in members {
            try Task.checkCancellation()
            let (byteCount, isWhole) = try await member.stored()
            tally.withLock { tally in
                tally.storedBytes += byteCount
                tally.storedFiles += isWhole ? 1 : 0
            }
            if !isWhole { missing.append(member) }
        }
        report(0, tally.withLock { $0 })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, member) in missing.enumerated() {
                if number >= Self.width { try await group.next() }
                group.addTask {
                    _ = try await member.fetch { count in
                        report(
                            count,
                            tally.withLock { tally in
                                tally.storedBytes += Int64(count)
                                return tally
                            })
                    }
                    report(
                        0,
                        tally.withLock { tally in
                            tally.storedFiles += 1
                            return tally
                        })
                }
            }
            try await group.waitForAll()
        }
    }
}

extension DownloadRun.StreamProgress {
    /// Counts a file that is stored as a whole.
    fileprivate mutating func note(_ byteCount: Int64) {
        (files, storedFiles) = (files + 1, storedFiles + 1)
        storedBytes += byteCount
    }
}
