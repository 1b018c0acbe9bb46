import ByteRanges

/// Whether there is room for what is missing of a file, and why its bytes are not stored.
extension FileDownload {
    /// Bytes that are not stored yet, 0 if their number is not known; throws if there is no room for them.
    ///
    /// Before anything is fetched or evicted for it.
    func missing(of resource: LiveResource) async throws -> Int64 {
        guard let store = engine.store else { return 0 }
        guard let known = try await resource.stored(for: request), let wanted = wanted(of: known.information) else {
            // The origin knows how long it is; on a full disk there is no room for a byte of it.
            let least: Int64? = store.quota.diskShortage(1) == nil ? nil : 1
            if let obstacle = await DiskQueue.shared.run({ store.obstacle(toStoring: least, isKept: isKept) }) {
                throw prevented(by: obstacle.withoutLength, length: nil)
            }
            return 0
        }
        let (length, stored) = (wanted.byteCount, wanted.intersection(known.storedRanges).byteCount)
        if let obstacle = await DiskQueue.shared.run({ obstacle(toStoring: length, stored: stored, in: store) }) {
            throw prevented(by: obstacle, length: length)
        }
        return length - stored
    }

    /// Bytes of a read that are not stored yet; 0 where the length is not known.
    func missing(of read: MediaRead) async throws -> Int64 {
        guard let wanted = wanted(of: read.information) else { return 0 }
        let stored = try await engine.resource(key).stored(for: request)?.storedRanges
        return wanted.subtracting(stored ?? []).byteCount
    }

    /// Throws if there is no room for the ranges of a file that are wanted.
    ///
    /// Of a whole file, its response has shown that.
    func checkRoom(for read: MediaRead, missing: Int64) async throws {
        guard ranges != nil, let store = engine.store, let length = wanted(of: read.information)?.byteCount,
            let obstacle = await DiskQueue.shared.run({
                obstacle(toStoring: length, stored: length - missing, in: store)
            })
        else { return }
        throw prevented(by: obstacle, length: length)
    }

    /// Throws ``RepriseError`` with code `storageFull` if `count` bytes more must not be kept, because of the limit of
    /// the title's tag.
    func checkTag(adding count: Int64) async throws {
        guard isKept, let store = engine.store else { return }
        let title = titles.first?.key ?? key
        let tags = try await store.index.look { try $0.titles.limitedTags(ofFile: title) }
        guard !tags.isEmpty else { return }
        await store.recorder.flush()
        // To sum all files of a tag takes as long as there are many of them.
        if tags.allSatisfy({ store.tagKeeper.hasRoom(for: count, tag: $0) }) { return }
        await store.evictor.prepare()
        try await store.index.look { try $0.titles.checkRoom(for: count, inTitleOf: title) }
    }

    private func prevented(by obstacle: StorageObstacle, length: Int64?) -> RepriseError {
        var code = RepriseError.Code.storageFull
        if case .store = obstacle, engine.store?.breaker.isFull != true { code = .storageUnavailable }
        // Of a stream, and of a beginning, the length of the file says nothing.
        let isWhole = isKept && !titles.contains { $0.key != key }
        let obstacle = isWhole ? obstacle : obstacle.withoutLength
        var error = RepriseError(code, obstacle.description, range: length.map { 0..<$0 })
        error.obstacle = obstacle
        return error
    }

    /// Why the bytes bypass the store.
    func bypassed(_ read: MediaRead, in store: Store) -> RepriseError {
        let length = wanted(of: read.information)?.byteCount
        if let obstacle = store.obstacle(toStoring: length, isKept: isKept) {
            return prevented(by: obstacle, length: length)
        }
        let reason = store.refusal(of: length)
        let missing = (length ?? 0) - read.servedBytes(from: .store)
        // It would fit: something else prevents it, such as a folder that cannot be written.
        if reason == nil, length != nil, store.quota.shortage(max(missing, 1)) <= 0,
            let bypass = engine.reporter.bypass(of: key)
        {
            let isFull = bypass.isForLackOfRoom || store.breaker.isFull
            var error = RepriseError(isFull ? .storageFull : .storageUnavailable, bypass.reason)
            error.obstacle = .store(reason: bypass.reason)
            return error
        }
        return RepriseError(
            .storageFull, reason ?? store.noRoomReason(for: max(missing, 1)), range: length.map { 0..<$0 })
    }

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
        let tags = try await store.index.look { try $0.titles.limitedTags(ofFile: title) }
        // What has come of others counts where it is recorded.
        let others = engine.promisedRoom.others(than: key, in: title).bytes
        if others > 0, !tags.isEmpty || !store.hasRoomWithoutEviction(for: length - stored + others) {
            await store.recorder.flush()
        }
        let file = PromisedRoom.File(entry: key, title: title, tags: tags) { [engine, key, request] in
            let known = engine.liveResource(key)?.liveGeneration(for: request)?.storedRanges
            return known.map { wanted.subtracting($0).byteCount } ?? length - stored
        }
        try await DiskQueue.shared.run {
            try engine.promisedRoom.take(promise, for: file) { others in
                guard try !hasRoom(for: length, stored: stored, tags: tags, besides: others, in: store) else { return }
                throw prevented(by: obstacle(to: length, stored: stored, besides: others, in: store), length: length)
            }
        }
    }

    private func hasRoom(
        for length: Int64, stored: Int64, tags: Set<String>, besides others: PromisedRoom.Others, in store: Store
    ) throws -> Bool {
        for tag in tags {
            guard let bytes = others.bytesOfTags[tag], bytes > 0 else { continue }
            guard try store.index.titles.hasRoom(for: length - stored + bytes, taggedAs: tag) else { return false }
        }
        return others.bytes == 0 || store.hasRoomWithoutEviction(for: length - stored + others.bytes)
            || obstacle(toStoring: length, stored: stored, promised: others.bytes, in: store) == nil
    }

    /// Why `length` bytes cannot be stored besides `promised` ones, as far as that is known in advance.
    ///
    /// What has come of them in the background is on the disk already.
    private func obstacle(
        toStoring length: Int64, stored: Int64, promised: Int64 = 0, in store: Store
    ) -> StorageObstacle? {
        let transfers = request.context.errand == nil ? nil : DownloadTransfers(engine)
        let arrived = transfers?.arrivedBytes(of: key) ?? ArrivedBytes()
        return store.obstacle(
            toStoring: length, stored: stored, isKept: isKept, promised: promised, arrived: arrived)
    }

    /// Why there is no room besides `others`: what other titles are to get, unless the title alone is too large.
    private func obstacle(
        to length: Int64, stored: Int64, besides others: PromisedRoom.Others, in store: Store
    ) -> StorageObstacle {
        obstacle(toStoring: length, stored: stored, promised: others.bytesOfTitle, in: store)
            ?? .promised(
                others: others.bytes - others.bytesOfTitle,
                taken: store.quota.usage.allocated + others.bytes - others.bytesOfTitle)
    }
}

extension Engine {
    /// Bytes that are occupied, or promised to downloads under way.
    var takenRoom: Int64 { (store?.quota.usage.allocated ?? 0) + promisedRoom.bytes }
}

extension Store {
    /// Whether there surely is room for `bytes` more, whatever is kept; the index is not asked.
    fileprivate func hasRoomWithoutEviction(for bytes: Int64) -> Bool { quota.shortage(bytes) <= 0 }
}
