public import Foundation
// An app that plays media needs one import besides AVFoundation.
@_exported public import Reprise
@_exported public import RepriseURLSession

#if Streams
    import RepriseStreams
#endif

extension MediaCache {
    /// The cache of an app: its media in the app's caches folder, fetched with `URLSession`.
    ///
    /// ```swift
    /// let cache = await MediaCache.forPlayback()
    /// ```
    /// Further calls return the same cache. By default `directory` is `Reprise` in the app's own part of the user's
    /// caches folder, named after its bundle identifier, or after the process if it has none. The system neither backs
    /// that folder up nor shows it, and may empty it when space runs out, so name a directory in Application Support
    /// for downloads and pins (not on tvOS, which has none).
    ///
    /// With the package's trait `Streams`, downloads and preloads of an HLS playlist are those of the stream
    /// (`downloadsStreams`), whatever `configuration` says.
    ///
    /// If the directory cannot be used, because another process has it open, the disk fails, or the key is unavailable
    /// or different, the cache stores nothing and playback continues. ``MediaCache/isStoring`` is then false, and
    /// ``MediaCache/storeProblem`` and the first event say why. Such a cache stays as it is, and a further call tries
    /// again: call it when the cause has gone, such as in `applicationProtectedDataDidBecomeAvailable(_:)` of an app
    /// that the system has launched before the device was unlocked for the first time.
    public static func forPlayback(
        directory: URL? = nil, origin: URLSessionOrigin = URLSessionOrigin(),
        configuration: Configuration = Configuration()
    ) async -> MediaCache {
        var configuration = configuration
        #if Streams
            configuration.downloadsStreams = true
        #endif
        do {
            let directory = try directory ?? defaultDirectory()
            return try await open(directory: directory.path, origin: origin, configuration: configuration)
        } catch {
            return withoutStore(origin: origin, configuration: configuration, because: error)
        }
    }

    private static func defaultDirectory() throws -> URL {
        let caches = try FileManager.default.url(
            for: .cachesDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
        return defaultDirectory(
            in: caches, bundleIdentifier: Bundle.main.bundleIdentifier, processName: ProcessInfo.processInfo.processName
        )
    }

    /// One directory per app: on macOS all apps without a sandbox share one caches folder, and a directory belongs to
    /// one process.
    static func defaultDirectory(in caches: URL, bundleIdentifier: String?, processName: String) -> URL {
        caches.appendingPathComponent(bundleIdentifier ?? processName, isDirectory: true)
            .appendingPathComponent("Reprise", isDirectory: true)
    }
}
