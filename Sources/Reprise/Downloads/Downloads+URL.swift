public import Foundation

/// Calls that take a URL, and calls for all downloads.
///
/// Pass the URL of a file or of a stream's outermost playlist, and the partition if it has one, as in
/// ``MediaCache/resource(for:fields:partition:)-(URL,_,_)``. In addition to the errors of the calls without a URL, all
/// calls throw ``RepriseError`` with code `invalidURL` if the URL is neither http nor https.
extension Downloads {
    /// Downloads the file or stream at `url`; see ``add(_:name:selection:)-(MediaResource,_,_)``.
    ///
    /// `networkPolicy` says which networks may be used. `nil`, the default, keeps the policy of a download that exists;
    /// a new one may use any.
    public func add(
        _ url: URL, name: String? = nil, selection: StreamSelection? = nil, partition: String? = nil,
        networkPolicy: NetworkPolicy? = nil
    ) async throws {
        var resource = try cache().resource(for: url, partition: partition)
        let former = networkPolicy == nil ? await found(resource.key)?.item : nil
        resource.networkPolicy = networkPolicy ?? former?.request.networkPolicy ?? .any
        try await add(resource, name: name, selection: selection)
    }

    /// Pauses the download of `url`; see ``pause(_:)``.
    public func pause(_ url: URL, partition: String? = nil) async throws {
        try await pause(key(of: url, partition: partition))
    }

    /// Resumes the download of `url`; see ``resume(_:)``.
    public func resume(_ url: URL, partition: String? = nil) async throws {
        try await resume(key(of: url, partition: partition))
    }

    /// Moves the download of `url` before that of another URL, or behind all with `nil`; see ``move(_:before:)``.
    public func move(_ url: URL, before other: URL?, partition: String? = nil) async throws {
        try await move(key(of: url, partition: partition), before: other.map { try key(of: $0, partition: partition) })
    }

    /// Removes the download of `url` and its bytes; see ``remove(_:)``.
    @discardableResult
    public func remove(_ url: URL, partition: String? = nil) async throws -> Int64 {
        try await remove(key(of: url, partition: partition))
    }

    /// The download of `url`; `nil` if there is none, or the URL is neither http nor https.
    public subscript(url: URL, partition partition: String? = nil) -> Download? {
        get async {
            guard let key = try? key(of: url, partition: partition) else { return nil }
            return await self[key]
        }
    }

    /// The download of `url` now and after each change, at most once per `interval`; 250 ms by default.
    ///
    /// `nil` while there is none. Ends when the cache is closed.
    public func updates(
        of url: URL, partition: String? = nil, every interval: Duration = .milliseconds(250)
    ) -> Updates<Download?> {
        updates(every: interval) { [self] in await self[url, partition: partition] }
    }

    /// Gives the title of `url` another name, and keeps its tag; see ``MediaCache/nameTitle(of:name:tag:)``.
    public func rename(_ url: URL, to name: String, partition: String? = nil) async throws {
        let cache = try cache()
        try await cache.setName(name, ofTitle: cache.resource(for: url, partition: partition))
    }

    /// Pauses all downloads that are not done.
    ///
    /// Downloads that are added later start. Stops at the first one that cannot be recorded as paused.
    public func pauseAll() async throws {
        // The last ones first: a running download that is paused makes way for the next one.
        for download in await list().reversed() { try await pause(download.key) }
    }

    /// Resumes all downloads that are paused, wait for another attempt, or have failed.
    ///
    /// Downloads that wait for their hours continue to wait.
    ///
    /// Stops at the first one that cannot be recorded as resumed.
    public func resumeAll() async throws {
        for download in await list() where !download.isDone {
            if case .waiting(.schedule, _) = download.state { continue }
            try await resume(download.key)
        }
    }

    private func key(of url: URL, partition: String?) throws(RepriseError) -> CacheKey {
        try cache().keyPolicy.key(for: ResourceURL(url)).inPartition(partition)
    }
}
