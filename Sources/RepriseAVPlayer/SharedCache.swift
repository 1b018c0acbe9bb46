public import Foundation
import Primitives
public import Reprise
public import RepriseURLSession

extension MediaCache {
    /// The app's cache, opened on first use as ``forPlayback(directory:origin:configuration:)`` opens it.
    ///
    /// ```swift
    /// try await MediaCache.shared.downloads.add(url)
    /// ```
    /// `AVPlayerItem.cached(_:)` plays through the same cache. If its directory cannot be used, the cache stores
    /// nothing, and the next use after ten seconds tries again. The next use after ``close()`` reopens it.
    public static var shared: MediaCache {
        get async { await SharedCache.app.cache().value }
    }

    /// Sets the parameters with which ``shared`` is opened; see ``forPlayback(directory:origin:configuration:)``.
    ///
    /// Call it once, before the first use of ``shared`` and `AVPlayerItem.cached(_:)`, such as in the app's
    /// initializer; a second call before that use replaces all parameters of the first. Throws ``RepriseError`` with
    /// code `invalidArgument` if the cache is open or being opened.
    public static func configureShared(
        directory: URL? = nil, origin: URLSessionOrigin = URLSessionOrigin(),
        configuration: Configuration = Configuration()
    ) throws(RepriseError) {
        try SharedCache.app.opens {
            await forPlayback(directory: directory, origin: origin, configuration: configuration)
        }
    }
}

/// A cache that is opened on first use.
final class SharedCache: Sendable {
    /// The cache of ``MediaCache/shared``.
    static let app = SharedCache { await MediaCache.forPlayback() }

    private struct State {
        var open: @Sendable () async -> MediaCache
        var opening: Promise<MediaCache>?
        /// When a cache without a directory is opened again.
        var retry = ContinuousClock.now

        /// The cache, open or being opened; `nil` if it has to be opened.
        var current: Promise<MediaCache>? {
            guard let cache = opening?.current else { return opening }
            let isUsable = cache.isStoring || cache.isReadOnly || ContinuousClock.now < retry
            return isUsable && !cache.isClosed ? opening : nil
        }
    }

    private let state: Mutex<State>
    private let retryInterval: Duration

    init(retryInterval: Duration = .seconds(10), _ open: @escaping @Sendable () async -> MediaCache) {
        state = Mutex(State(open: open))
        self.retryInterval = retryInterval
    }

    /// Replaces the function that opens the cache.
    ///
    /// Throws `invalidArgument` if the cache is open or being opened.
    func opens(_ open: @escaping @Sendable () async -> MediaCache) throws(RepriseError) {
        let isInUse = state.withLock { state in
            if let opening = state.opening, opening.current?.isClosed != true { return true }
            (state.open, state.opening) = (open, nil)
            return false
        }
        guard !isInUse else {
            throw RepriseError(.invalidArgument, "The shared cache is open already. Configure it before its first use.")
        }
    }

    /// The cache, which is opened if necessary.
    func cache() -> Promise<MediaCache> {
        let (cache, open) = state.withLock { state -> (Promise<MediaCache>, (@Sendable () async -> MediaCache)?) in
            if let current = state.current { return (current, nil) }
            let opening = Promise<MediaCache>()
            (state.opening, state.retry) = (opening, .now + retryInterval)
            return (opening, state.open)
        }
        if let open { Task(priority: .userInitiated) { cache.fulfill(await open()) } }
        return cache
    }
}
