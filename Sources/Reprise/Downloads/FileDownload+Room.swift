import ByteRanges

extension FileDownload {
    /// Counts what is missing of a file with this metadata as taken until `promise` ends.
    ///
    /// Throws ``RepriseError`` with code `storageFull` if there is no room for it besides what others that are being
    /// downloaded are to get; does nothing for bytes that may be evicted, or whose number is not known.
    func take(_ promise: PromisedRoom.Promise, as information: ContentInformation?) async throws {
        guard isKept, let store = engine.store, let wanted = information.flatMap(wanted(of:)) else { return }
        let known = try await engine.resource(key).stored(for: request)?.storedRanges
        let (length, stored) = (wanted.byteCount, known.map { wanted.intersection($0).byteCount } ?? 0)
        guard length > stored else { return }
        let title = titles.first?.key ?? key
        let tags = try store.index.limitedTags(ofFile: title)
        // What has come of others counts where it is recorded.
        let others = engine.promisedRoom.others(than: key, in: title).bytes
        if others > 0, !tags.isEmpty || !store.hasRoomWithoutEviction(for: length - stored + others) {
            await store.recorder.flush()
        }
        let file = PromisedRoom.File(entry: key, title: title, tags: tags) { [engine, key, request] in
            let known = engine.liveResource(key)?.liveGeneration(for: request)?.storedRanges
            return known.map { wanted.subtracting($0).byteCount } ?? length - stored
        }
        try engine.promisedRoom.take(promise, for: file) { others in
            guard try !hasRoom(for: length, stored: stored, tags: tags, besides: others, in: store) else { return }
            throw prevented(by: obstacle(to: length, stored: stored, besides: others, in: store), length: length)
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

    /// Why there is no room besides `others`: what other titles are to get, unless the title alone is too large.
    private func obstacle(
        to length: Int64, stored: Int64, besides others: PromisedRoom.Others, in store: Store
    ) -> StorageObstacle {
        store.obstacle(toStoring: length, stored: stored, isKept: true, promised: others.bytesOfTitle)
            ?? .promised(others: others.bytes - others.bytesOfTitle)
    }
}

extension Store {
    /// Whether there surely is room for `bytes` more, whatever is kept; the index is not asked.
    fileprivate func hasRoomWithoutEviction(for bytes: Int64) -> Bool { quota.shortage(bytes) <= 0 }
}
