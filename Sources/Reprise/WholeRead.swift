import ByteRanges
import HTTPTypes

extension MediaResource {
    /// A read of the whole representation, and why not all of it will be stored, if that is known.
    package struct WholeRead: Sendable {
        package let read: MediaRead
        package let obstacle: StorageObstacle?
    }

    /// Begins a read of everything, of the class `download`, for a caller who needs it stored as a whole.
    ///
    /// If that is impossible, nothing of it is stored, nothing else is evicted, and the bytes come from the origin.
    ///
    /// With `isValidating`, the origin is asked whether the stored response is current, however fresh it is. Throws the
    /// errors of ``read(_:fields:directives:demand:onInterim:)``, and `notDownloadable` for a web page.
    package func readWhole(isValidating: Bool = false) async throws -> WholeRead {
        let known = await stored()?.information.completeLength
        // The read would start to fetch missing bytes, and evict for them; not in a directory that is only read.
        if known != nil, engine.storeProblem == nil, await obstacle(toStoring: known) != nil {
            let read = try await engine.bypassing(self).read(demand: .download)
            if let obstacle = await obstacle(toStoring: read.information.completeLength) {
                return WholeRead(read: read, obstacle: obstacle)
            }
            // The representation has changed and fits now.
            read.cancel()
        }
        var request = originRequest
        request.demand = .download
        let read = try await current().open(
            ReadRequest(
                range: nil, origin: request, isValidating: isValidating, storesOnlyWhole: true, content: .title))
        if let objection = engine.objection(to: read.information, as: .title, at: url) {
            read.cancel()
            throw objection
        }
        return WholeRead(read: read, obstacle: await obstacle(of: read))
    }

    /// Drops the stored response because its bytes are not the expected content.
    package func drop() async {
        guard let generation = engine.liveResource(key)?.liveGeneration else { return }
        await engine.forget(generation, under: key)
    }

    /// Why not all of `read` is stored; `nil` while nothing prevents it.
    package func obstacle(of read: MediaRead) async -> StorageObstacle? {
        guard read.isPastStore, let store = engine.store else { return nil }
        if read.passedThrough != nil { return read.obstacle(at: url) }
        let length = read.information.completeLength
        if let obstacle = await obstacle(toStoring: length) { return obstacle }
        // It would fit: something else prevents it, such as a folder that cannot be written.
        if length != nil, let bypass = engine.reporter.bypass(of: key) { return .store(reason: bypass.reason) }
        if let obstacle = await obstacleToMore() { return obstacle }
        return .store(reason: await DiskQueue.shared.run { store.noRoomReason(for: 1) })
    }

    /// Why what was stored is not there any more: files of the cache were removed by others; `nil` if it is there.
    package func loss() async -> StorageObstacle? {
        guard let store = engine.store else { return nil }
        let generation = engine.liveResource(key)?.liveGeneration?.id
        return await DiskQueue.shared.run {
            if let reason = store.lossReason { return .store(reason: reason) }
            guard let generation else { return nil }
            let path = store.path(name: store.index.name(of: key), generation: generation)
            guard (try? store.fileSystem.status(of: path)) == nil else { return nil }
            return .store(reason: "its file was removed in the meantime. Run the same command again.")
        }
    }

    /// Why no more can be stored of a representation or a stream whose length is not known; at least `bytes` more are
    /// needed.
    package func obstacleToMore(needing bytes: Int64 = 0) async -> StorageObstacle? {
        guard let store = engine.store else { return nil }
        await store.recorder.flush()
        return await DiskQueue.shared.run {
            let isKept = (try? store.index.retentions.retention(of: key)).map { $0 != .cached } ?? false
            return store.obstacleToMore(
                besides: isKept ? (try? store.index.entries.allocated(of: key)) ?? 0 : 0, needing: bytes)
        }
    }

    /// Whether pins and downloads besides the title that begins with it occupy something; true if that is not known.
    package func isKeptBesideOthers() async -> Bool {
        guard let store = engine.store else { return true }
        await store.recorder.flush()
        return await DiskQueue.shared.run {
            (try? store.index.retentions.retainedBytes(besidesTitleOf: key)) != 0
        }
    }

    /// Bytes on disk that are kept of titles with `tag` besides the title that begins with it; `nil` if that is not
    /// known.
    package func keptBytesOfOthers(taggedAs tag: String) async -> Int64? {
        guard let store = engine.store else { return nil }
        await store.recorder.flush()
        return await DiskQueue.shared.run {
            try? store.index.retentions.retainedBytes(besidesTitleOf: key, taggedAs: tag)
        }
    }

    /// Why a representation of `length` bytes cannot be stored as a whole.
    package func obstacle(toStoring length: Int64?) async -> StorageObstacle? {
        guard let store = engine.store else {
            return .store(reason: "Nothing can be stored: there is no directory.")
        }
        let stored = await self.stored()?.ranges.byteCount ?? 0
        return await DiskQueue.shared.run {
            let isKept = (try? store.index.retentions.retention(of: key)).map { $0 != .cached } ?? false
            return store.obstacle(toStoring: length, stored: stored, isKept: isKept)
        }
    }
}

extension Engine {
    /// `resource` in a cache with the same origin and the same budget of downloads that stores nothing.
    fileprivate func bypassing(_ resource: MediaResource) throws(RepriseError) -> MediaResource {
        try MediaCache(
            Engine(origin: client, configuration: configuration, store: nil, reporter: Reporter(), pace: pace)
        ).resource(for: resource.url, fields: resource.fields)
    }
}

extension MediaRead {
    /// Why a response from `url` that bypasses the store must not be stored.
    func obstacle(at url: ResourceURL) -> StorageObstacle {
        guard bypassReason == .contentEncoding, let coding = information.contentCoding else { return .forbidden }
        return .coded(file: url.lastPathComponent, coding: coding)
    }

    /// Whether the origin says that there is a file, and that it has no bytes: nothing of it can be stored.
    package var isOfEmptyFile: Bool {
        passedThrough.map { $0.status == .ok && $0.headerFields[.contentLength] == "0" } ?? false
    }
}
