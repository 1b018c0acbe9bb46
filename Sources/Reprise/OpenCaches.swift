import Locks

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The caches that are open in this process, by directory: a second opening gets the same one.
///
/// The lock is a leaf.
final class OpenCaches: Sendable {
    static let shared = OpenCaches()

    private struct Entry {
        weak var cache: MediaCache?
        /// Lives on while something is read, though the cache was dropped.
        weak var engine: Engine?
        weak var store: Store?
        /// The opening or the closing that is under way.
        var work: Task<Void, Never>?
    }

    private enum Found {
        case cache(MediaCache)
        /// The cache was dropped while somebody read: a new one goes on with its engine.
        case revived(MediaCache)
        /// It is being opened or closed.
        case wait(Task<Void, Never>)
        /// It was dropped, and something of it still runs for a moment.
        case leaving
        case opening(Task<MediaCache, any Error>)
    }

    private let entries = Mutex<[String: Entry]>([:])

    /// The open cache in `directory`, or the one that `open` opens; `start` begins what a cache does by itself.
    func cache(
        in directory: String, _ open: @escaping @Sendable (String) async throws -> MediaCache,
        start: (MediaCache) -> Void
    ) async throws -> MediaCache {
        let path = Self.realPath(directory)
        while true {
            let found: Found = entries.withLock { entries in
                if let entry = entries[path] {
                    if let cache = entry.cache, cache.enter() { return .cache(cache) }
                    if let work = entry.work { return .wait(work) }
                    if let engine = entry.engine {
                        let cache = MediaCache(engine)
                        entries[path]?.cache = cache
                        return .revived(cache)
                    }
                    if entry.store != nil { return .leaving }
                }
                let opening = Task { try await self.open(path, open) }
                entries[path] = Entry(work: Task { _ = await opening.result })
                return .opening(opening)
            }
            switch found {
            case .cache(let cache): return cache
            case .wait(let work): await work.value
            case .leaving: await Task.yield()
            case .revived(let cache):
                start(cache)
                return cache
            case .opening(let opening):
                let cache = try await opening.value
                start(cache)
                return cache
            }
        }
    }

    private func open(
        _ path: String, _ open: @Sendable (String) async throws -> MediaCache
    ) async throws -> MediaCache {
        do {
            let cache = try await open(path)
            entries.withLock { $0[path] = Entry(cache: cache, engine: cache.engine, store: cache.engine.store) }
            return cache
        } catch {
            entries.withLock { $0[path] = nil }
            throw error
        }
    }

    /// Closes the cache in `path` by `work`; until that has ended another one cannot be opened there.
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

    /// One name for each directory that exists.
    static func realPath(_ directory: String) -> String {
        guard let resolved = realpath(directory, nil) else { return directory }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
