public import Foundation
// An app that plays needs one import besides AVFoundation: MediaCache is its whole vocabulary.
@_exported public import Reprise
public import RepriseURLSession

extension MediaCache {
    /// The cache of an app: its media in the app's caches folder, fetched with `URLSession`.
    ///
    /// ```swift
    /// let cache = await MediaCache.forPlayback()
    /// ```
    /// Called again it gives the same cache. `directory` is by default `Reprise` in the app's own part of the user's caches
    /// folder, which is named for its bundle identifier, or for the process where it has none. The system neither backs that
    /// up nor shows it, and may empty it when space runs out: name one in Application Support for downloads and pins (not on
    /// tvOS, which has none). Where it cannot be used, because another process has it, the disk fails, or the key cannot be had
    /// or differs, the cache stores nothing and playback goes on: ``MediaCache/isStoring`` is false then, and
    /// ``MediaCache/storeProblem`` and the first event say why.
    public static func forPlayback(
        directory: URL? = nil, origin: URLSessionOrigin = URLSessionOrigin(),
        configuration: Configuration = Configuration()
    ) async -> MediaCache {
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

    /// Each app has its own: on macOS all without a sandbox share one caches folder, and a directory has one process.
    static func defaultDirectory(in caches: URL, bundleIdentifier: String?, processName: String) -> URL {
        caches.appendingPathComponent(bundleIdentifier ?? processName, isDirectory: true)
            .appendingPathComponent("Reprise", isDirectory: true)
    }
}
