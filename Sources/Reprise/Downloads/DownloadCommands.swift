import Primitives

/// The commands that wait for downloads of a cache: what they leave behind when they fail or are ended early.
package struct DownloadCommands: Sendable {
    private let downloads: Downloads
    private let waiting: Mutex<Waiting>

    /// Those that wait now.
    struct Waiting: Sendable {
        fileprivate var followers: [CacheKey: DownloadFollowers] = [:]
        /// Whether they end because the process does.
        fileprivate var isProcessEnding = false
    }

    /// Those among `waiting` that wait for `downloads`.
    init(of downloads: Downloads, waiting: Mutex<Waiting>) { (self.downloads, self.waiting) = (downloads, waiting) }

    /// A download as it is before it is added again, which may fail.
    package struct Former: Sendable {
        fileprivate let item: DownloadQueue.Item
        fileprivate let stream: StreamProgress?
        /// What of it is fetched if it is a stream.
        package var selection: StreamSelection { item.selection }
    }

    /// A download as it is now; `nil` if there is none.
    package func former(_ key: CacheKey) async -> Former? {
        await downloads.found(key).map { Former(item: $0.item, stream: $0.stream) }
    }

    /// Gives a download that was added again in vain its selection and its state back.
    ///
    /// With the same selection, one that was to be fetched then stays as it is: it has found out what prevents it. Does
    /// nothing if it was removed. Throws ``RepriseError`` with code `storageUnavailable`.
    package func putBack(_ former: Former) async throws {
        try await downloads.putBack(former.item, stream: former.stream)
    }

    /// The process ends, and with it the commands: no download is paused because of that.
    package func processEnds() { waiting.withLock { $0.isProcessEnding = true } }

    /// A command begins to wait for the download of `key`.
    ///
    /// With `pausing`, the download is paused when the last command that waits for it is ended early, unless it was
    /// under way before the first one came. With `releasing`, the retention that the title had before, it is not kept
    /// as a download when no command waits for it any more.
    package func join(_ key: CacheKey, pausing: Bool, releasing before: Retention? = nil) async {
        // Until those of an earlier process are known.
        _ = await downloads.found(key)
        waiting.withLock { waiting in
            waiting.followers[key, default: DownloadFollowers()]
                .join(isUnderWay: downloads.isUnderWay(key), pausing: pausing, releasing: before)
        }
    }

    /// Whether the download of `key` stays one when a command that waits for it fails, because another one wants it.
    package func goesOn(_ key: CacheKey) -> Bool { waiting.withLock { $0.followers[key]?.goesOn == true } }

    /// The download of `key` stays one, although the commands that wait for it now would have released it.
    package func keep(_ key: CacheKey) { waiting.withLock { $0.followers[key]?.keep() } }

    /// A command that has joined no longer waits; `isCanceled` says whether it was ended early.
    ///
    /// Returns the retention that the caller must give the title back; `nil` if it stays a download. Throws as
    /// ``Downloads/pause(_:)``.
    @discardableResult
    package func leave(_ key: CacheKey, isCanceled: Bool) async throws -> Retention? {
        let (isToBePaused, released) = waiting.withLock { waiting in
            let end = waiting.followers[key]?.leave(isCanceled: isCanceled)
            if waiting.followers[key]?.isEmpty == true { waiting.followers[key] = nil }
            return (end?.pauses == true && !waiting.isProcessEnding, end?.released)
        }
        if isToBePaused { try await downloads.pause(key) }
        return released
    }
}
