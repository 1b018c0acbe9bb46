public import Foundation
import HTTPSemantics
public import HTTPTypes

/// The stored response, found without asking the origin.
extension MediaResource {
    /// The stored response that answers a request with these fields, if it is in memory.
    ///
    /// Never waits, and does not consult the index. `fields` are added to the resource's own; they matter where
    /// responses vary (RFC 9111 §4.1).
    public func storedInMemory(fields extra: HTTPFields = [:]) -> StoredContent? {
        live?.liveGeneration(for: request(extra)).map { StoredContent($0) }
    }

    /// The stored response that answers a request with these fields, from memory or else from the index.
    ///
    /// If the index cannot be read, nothing counts as stored. `fields` as in ``storedInMemory(fields:)``.
    public func stored(fields extra: HTTPFields = [:]) async -> StoredContent? {
        if let content = storedInMemory(fields: extra) { return content }
        return await DiskQueue.shared.run { Self.recorded([self], fields: extra)[0] }
    }

    /// The stored responses of `resources`, in their order; all resources must belong to the same cache.
    ///
    /// Responses that are not in memory are looked up in one index read. If the index cannot be read, they count as not
    /// stored.
    package static func stored(_ resources: [MediaResource]) async -> [StoredContent?] {
        var contents = resources.map { $0.storedInMemory() }
        let rest = contents.indices.filter { contents[$0] == nil }
        guard !rest.isEmpty else { return contents }
        let recorded = await DiskQueue.shared.run {
            Self.recorded(rest.map { resources[$0] }, fields: [:])
        }
        for (index, content) in zip(rest, recorded) { contents[index] = content }
        return contents
    }

    /// The stored response that answers a request with these fields, loaded from the index if it is not in memory, so
    /// that its bytes can be served.
    ///
    /// `fields` as in ``storedInMemory(fields:)``. Throws ``RepriseError`` with code `storageUnavailable` or `closed`,
    /// or `CancellationError`.
    public func loadStored(fields extra: HTTPFields = [:]) async throws -> StoredContent? {
        try await current().stored(for: request(extra)).map { StoredContent($0) }
    }

    /// The metadata of the representation; asks the origin for the first byte if it is not in memory.
    public func contentInformation() async throws -> ContentInformation {
        if let stored = storedInMemory() { return stored.information }
        return try await read(.bounded(0..<1)).information
    }

    /// Whether every byte is on disk; looks into the index, never at the network.
    ///
    /// Of a stream, if the configuration reads playlists (`downloadsStreams` of `RepriseStreams`): whether it plays to
    /// its end without the origin in at least one quality, as `titles(complete:)` says. A stream is known as such once
    /// it was played, preloaded or downloaded; its time grows with its playlists. False for other playlists, such as
    /// those of a stream's qualities.
    public var isCached: Bool {
        get async {
            guard let content = await stored(), content.isComplete else { return false }
            let planner = engine.configuration.streamPlanner
            guard planner?.mayBePlaylist(content.information, at: url) == true else { return true }
            do {
                guard let stream = try await engine.stream(of: key) else { return false }
                return try await engine.isComplete(stream)
            } catch {
                // What cannot be read counts as not stored, as everywhere.
                return false
            }
        }
    }

    /// The data file, if every byte is on disk and the cache is not encrypted; `nil` otherwise.
    ///
    /// For programs that take files only. The file has no extension, must not be changed, and goes when the entry is
    /// evicted or removed: pin it (``MediaCache/retain(_:as:)-(MediaResource,_)``) as long as the file is in use. Its
    /// bytes are not compared with their checksums, and its use is not noted: ``export(to:)-(String)`` does both.
    public func fileURL() async -> URL? { try? await loadStored()?.file }

    // MARK: - The index

    /// Whether memory has the current state of `key`; the index may still list a response that was just replaced.
    private func isKnownInMemory(_ key: CacheKey) -> Bool {
        engine.liveResource(key)?.handle { $0.knowsWhatIsStored } ?? false
    }

    /// Looks up in the index the responses for requests with `fields`, except those known in memory.
    ///
    /// All `resources` must belong to the same cache. Blocks on the disk.
    private static func recorded(_ resources: [MediaResource], fields: HTTPFields) -> [StoredContent?] {
        let unknown = resources.indices.filter { !resources[$0].isKnownInMemory(resources[$0].key) }
        var contents = [StoredContent?](repeating: nil, count: resources.count)
        guard let first = unknown.first.map({ resources[$0] }), let store = first.engine.store else { return contents }
        do throws(RepriseError) {
            let found = try store.index.entries.generations(for: unknown.map { resources[$0].key }) { index, vary in
                let resource = resources[unknown[index]]
                return resource.key.variant(by: vary, for: resource.request(fields))
            }
            for case (let index, let generation?) in zip(unknown, found)
            where !first.isKnownInMemory(generation.record.key) {
                contents[index] = StoredContent(generation)
            }
        } catch {
            first.engine.reporter.tell(.storeBypassed(first.key, reason: error.explanation))
        }
        return contents
    }
}
