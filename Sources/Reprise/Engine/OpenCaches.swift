import Primitives

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The caches that are open in this process, by directory; opening a directory twice returns the same cache.
///
/// The lock is a leaf.
final class OpenCaches: Sendable {
    static let shared = OpenCaches()

    private struct Entry {
        weak var cache: MediaCache?
        /// Opens when the directory is unlocked.
        var released: Promise<Void>?
        /// The opening or closing that is under way.
        var work: Task<Void, Never>?
    }

    private enum Found {
        case cache(MediaCache)
        /// The cache is being opened or closed.
        case wait(Task<Void, Never>)
        /// The cache was released without ``MediaCache/close()`` and is closing by itself.
        case leaving(Promise<Void>)
        case opening(Task<MediaCache, any Error>)
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// The open cache in `directory`, or the one that `open` opens; `start` begins its background work.
    func cache(
        in directory: String, _ open: @escaping @Sendable (String) async throws -> MediaCache,
        start: (MediaCache) -> Void
    ) async throws -> MediaCache {
        let path = Self.realPath(directory)
        while true {
            switch find(path, open) {
            case .cache(let cache): return cache
            case .wait(let work): await work.value
            case .leaving(let released): await released.value
            case .opening(let opening):
                let cache = try await opening.value
                start(cache)
                return cache
            }
        }
    }

    private func find(
        _ path: String, _ open: @escaping @Sendable (String) async throws -> MediaCache
    ) -> Found {
        entries.withLock { entries in
            if let entry = entries[path] {
                if let cache = entry.cache, cache.enter() { return .cache(cache) }
                if let work = entry.work { return .wait(work) }
                if let released = entry.released, !released.isFulfilled { return .leaving(released) }
            }
            let opening = Task { try await self.open(path, open) }
            entries[path] = Entry(work: Task { _ = await opening.result })
            return .opening(opening)
        }
    }

    private func open(
        _ path: String, _ open: @Sendable (String) async throws -> MediaCache
    ) async throws -> MediaCache {
        do {
            let cache = try await open(path)
            entries.withLock {
                $0[path] = Entry(
                    cache: cache, released: cache.engine.store?.released)
            }
            return cache
        } catch {
            entries.withLock { $0[path] = nil }
            throw error
        }
    }

    /// Closes the cache in `path` by running `work`; another one can be opened there only afterwards.
    func close(_ path: String, _ work: @escaping @Sendable () async -> Void) async {
        let closing = entries.withLock { entries in
            let closing = Task {
                await work()
                self.entries.withLock { $0[path] = nil }
            }
            entries[path] = Entry(work: closing)
            return closing
        }
        await closing.value
    }

    /// A canonical name for each existing directory.
    static func realPath(_ directory: String) -> String {
        guard let resolved = realpath(directory, nil) else { return directory }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
