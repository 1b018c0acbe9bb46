extension FileDownload {
    /// Counts what is missing of a file of `length` bytes as taken until `promise` ends.
    ///
    /// Throws ``RepriseError`` with code `storageFull` if there is no room for it besides what other downloads under
    /// way are to get; does nothing for bytes that may be evicted, or whose number is not known.
    func take(_ promise: PromisedRoom.Promise, length: Int64?) async throws {
        guard isKept, let length, let store = engine.store else { return }
        let stored = try await stored().byteCount
        guard length > stored else { return }
        let tags = try store.index.limitedTags(ofFile: titles.first?.key ?? key)
        // What has come of others counts where it is recorded.
        let others = engine.promisedRoom.others(than: key).bytes
        if others > 0, !tags.isEmpty || !store.hasRoomWithoutEviction(for: length - stored + others) {
            await store.recorder.flush()
        }
        let missing: @Sendable () -> Int64 = { [engine, key, request] in
            let generation = engine.liveResource(key)?.liveGeneration(for: request)
            return length - (generation?.storedRanges.byteCount ?? stored)
        }
        try engine.promisedRoom.take(promise, for: key, tags: tags, missing: missing) { others in
            guard try !hasRoom(for: length, stored: stored, tags: tags, besides: others, in: store) else { return }
            throw prevented(by: .promised(others: others.bytes), length: length)
        }
    }

    private func hasRoom(
        for length: Int64, stored: Int64, tags: Set<String>, besides others: PromisedRoom.Others, in store: Store
    ) throws -> Bool {
        for tag in tags {
            guard let bytes = others.bytesOfTags[tag], bytes > 0 else { continue }
            guard try store.index.hasRoom(for: length - stored + bytes, taggedAs: tag) else { return false }
        }
        return others.bytes == 0 || store.hasRoomWithoutEviction(for: length - stored + others.bytes)
            || store.obstacle(toStoring: length, stored: stored, isKept: true, promised: others.bytes) == nil
    }
}

extension Store {
    /// Whether there surely is room for `bytes` more, whatever is kept; the index is not asked.
    fileprivate func hasRoomWithoutEviction(for bytes: Int64) -> Bool { quota.shortage(bytes) <= 0 }
}
