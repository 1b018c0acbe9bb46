import Primitives
import Reprise

/// Small pictures of titles, made one after the other from stored bytes when titles are listed, and kept in memory.
final class TitlePictures: Sendable {
    private enum Picture {
        case made([UInt8])
        /// There was none when so many bytes were stored.
        case missing(storedBytes: Int64)
    }

    private struct State {
        var pictures: [CacheKey: Picture] = [:]
        /// The keys of ``pictures``, the oldest first.
        var order: [CacheKey] = []
        /// Titles without a picture, in the order of the list.
        var waiting: [(key: CacheKey, storedBytes: Int64)] = []
        /// The title whose picture is being made.
        var current: CacheKey?
        var work: Task<Void, Never>?
    }

    /// Most pictures in memory, and most bytes of one.
    private static let (mostPictures, mostBytes) = (500, 64 << 10)

    private let cache: MediaCache
    private let make: ProxyConfiguration.PictureMaker
    private let state = Mutex(State())

    init(_ cache: MediaCache, make: @escaping ProxyConfiguration.PictureMaker) {
        (self.cache, self.make) = (cache, make)
    }

    /// The picture of a title, if it was made.
    func picture(of key: CacheKey) -> [UInt8]? {
        state.withLock { if case .made(let bytes) = $0.pictures[key] { bytes } else { nil } }
    }

    /// Has pictures made of these titles, and of no earlier titles that still wait.
    ///
    /// Returns the titles that have pictures, and whether more pictures are to come.
    func want(_ titles: [Title]) -> (made: Set<CacheKey>, isWaiting: Bool) {
        state.withLock { state in
            var made: Set<CacheKey> = []
            state.waiting = []
            for title in titles {
                switch state.pictures[title.key] {
                case .made?: made.insert(title.key)
                case .missing(let former)? where title.storedBytes < 2 * former: break
                default: if title.key != state.current { state.waiting.append((title.key, title.storedBytes)) }
                }
            }
            if !state.waiting.isEmpty, state.work == nil {
                state.work = Task { [weak self] in while await self?.makeNext() == true {} }
            }
            return (made, !state.waiting.isEmpty || state.current != nil)
        }
    }

    /// Makes the next picture; returns false if no title waits.
    private func makeNext() async -> Bool {
        guard let (key, storedBytes) = next() else { return false }
        let picture = await make(cache, key)
        state.withLock { state in
            state.current = nil
            if state.pictures[key] == nil { state.order.append(key) }
            let isSmall = picture.map { $0.count <= Self.mostBytes } ?? false
            state.pictures[key] = isSmall ? picture.map { .made($0) } : .missing(storedBytes: storedBytes)
            if state.order.count > Self.mostPictures { state.pictures[state.order.removeFirst()] = nil }
        }
        return true
    }

    private func next() -> (key: CacheKey, storedBytes: Int64)? {
        state.withLock { state in
            guard !state.waiting.isEmpty, !Task.isCancelled else {
                state.work = nil
                return nil
            }
            let next = state.waiting.removeFirst()
            state.current = next.key
            return next
        }
    }

    /// Ends its work in the background.
    func stop() { state.withLock { $0.work }?.cancel() }
}
