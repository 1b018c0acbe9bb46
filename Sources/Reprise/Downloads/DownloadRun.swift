import ByteRanges

/// Fetches what is missing of one download.
struct DownloadRun {
    let key: CacheKey
    let request: OriginRequest
    let engine: Engine

    /// Reads the whole representation, which fetches the missing bytes, and reports how many have arrived.
    ///
    /// Throws as soon as it turns out that the bytes cannot be stored: no reader needs them.
    func fetch(_ arrived: (Int64) -> Void) async throws {
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
        try await engine.authorizer?.prepare(request)
        let read = try await resource.open(ReadRequest(range: nil, origin: request, storesOnlyWhole: true))
        defer { read.cancel() }
        if read.passedThrough != nil { throw RepriseError(.notStored, "The response must not be stored.") }
        var fetched: Int64 = 0
        while true {
            if read.isPastStore { throw bypassed(read, in: store) }
            try Task.checkCancellation()
            guard let piece = try await read.next() else { break }
            guard !read.lastPieceWasStored else { continue }
            fetched += Int64(piece.count)
            arrived(fetched)
        }
        try Task.checkCancellation()
        if let generation = resource.liveGeneration(for: request), !Self.isWhole(generation) {
            throw bypassed(read, in: store)
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
