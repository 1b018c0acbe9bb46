import ByteRanges
import HTTPSemantics

/// Fetches what is missing of one file.
struct FileDownload: Sendable {
    let key: CacheKey
    let request: OriginRequest
    let engine: Engine
    /// What a playlist says about the file.
    var role: StreamRole?
    /// The titles that it is a file of.
    var titles: [TitleReference] = []

    /// What was read.
    struct Fetched: Sendable {
        let information: ContentInformation
        /// All bytes, where they were wanted.
        let bytes: [UInt8]?
    }

    /// Reads the whole representation, which fetches the missing bytes; `arrived` is told the length of each piece that
    /// was fetched.
    ///
    /// Returns the bytes too if they are at most as many as `limit` says of the metadata. Throws as soon as it turns
    /// out that the bytes cannot be stored: no reader needs them.
    func fetch(
        returningUpTo limit: (ContentInformation) -> Int64? = { _ in nil }, arrived: (Int) -> Void
    ) async throws -> Fetched {
        guard let store = engine.store else { throw RepriseError(.storageUnavailable, "There is no store.") }
        let resource = try engine.resource(key)
        var request = request
        request.demand = .download
        // Before anything is fetched or evicted for it.
        if let known = try await resource.stored(for: request), let length = known.information.completeLength,
            let obstacle = store.obstacle(toStoring: length, stored: known.storedRanges.byteCount, isKept: true)
        {
            throw prevented(by: obstacle, length: length)
        }
        let read = try await resource.open(
            ReadRequest(range: nil, origin: request, storesOnlyWhole: true, role: role, titles: titles))
        defer { read.cancel() }
        if read.passedThrough != nil { throw RepriseError(.notStored, "The response must not be stored.") }
        let most = limit(read.information)
        var bytes: [UInt8]? = most == nil ? nil : []
        while true {
            if read.isPastStore { throw bypassed(read, in: store) }
            try Task.checkCancellation()
            guard let piece = try await read.next() else { break }
            if let count = bytes?.count, let most {
                if Int64(count + piece.count) > most { bytes = nil } else { bytes? += try piece.bytes() }
            }
            if !read.lastPieceWasStored { arrived(piece.count) }
        }
        try Task.checkCancellation()
        if let generation = resource.liveGeneration(for: request), !Self.isWhole(generation) {
            throw bypassed(read, in: store)
        }
        return Fetched(information: read.information, bytes: bytes)
    }

    /// How many bytes are stored, and whether that is all; the origin is not asked.
    func stored() async throws -> (byteCount: Int64, isWhole: Bool) {
        guard let generation = try await engine.resource(key).stored(for: request) else { return (0, false) }
        return (generation.storedRanges.byteCount, Self.isWhole(generation))
    }

    /// The stored bytes and the metadata, if all is stored; the origin is not asked.
    func readStored() async throws -> Fetched? {
        guard try await stored().isWhole else { return nil }
        var directives = CacheControl()
        (directives.onlyIfCached, directives.maxStale) = (true, .any)
        do {
            let read = try await engine.resource(key).open(
                ReadRequest(range: nil, origin: request, directives: directives))
            defer { read.cancel() }
            var bytes: [UInt8] = []
            while let piece = try await read.next() { bytes += try piece.bytes() }
            return Fetched(information: read.information, bytes: bytes)
        } catch let error as RepriseError where error.code == .notStored {
            return nil
        }
    }

    private static func isWhole(_ generation: LiveGeneration) -> Bool {
        guard let length = generation.information.completeLength else { return false }
        return generation.storedRanges.contains(0..<length)
    }

    private func prevented(by obstacle: StorageObstacle, length: Int64?) -> RepriseError {
        var code = RepriseError.Code.storageFull
        if case .store = obstacle { code = .storageUnavailable }
        return RepriseError(code, obstacle.description, range: length.map { 0..<$0 })
    }

    /// Why the bytes bypass the store.
    private func bypassed(_ read: MediaRead, in store: Store) -> RepriseError {
        let length = read.information.completeLength
        if let obstacle = store.obstacle(toStoring: length, isKept: true) {
            return prevented(by: obstacle, length: length)
        }
        let reason = store.refusal(of: length)
        let missing = (length ?? 0) - read.servedBytes(from: .store)
        // It would fit: something else prevents it, such as a folder that cannot be written.
        if reason == nil, length != nil, store.quota.shortage(max(missing, 1)) <= 0,
            let reason = engine.reporter.bypassReason(of: key)
        {
            return RepriseError(.storageUnavailable, reason)
        }
        return RepriseError(
            .storageFull, reason ?? store.noRoomReason(for: max(missing, 1)), range: length.map { 0..<$0 })
    }
}
