import Primitives

/// An in-memory cache of parsed playlists, so that frequent lookups don't parse the same text again.
///
/// If the cache is full, the least recently used playlists are dropped.
package final class RememberedPlaylists: Sendable {
    /// Everything that the parsed playlist and its links depend on.
    package struct Key: Hashable, Sendable {
        private let generation, resource: String
        fileprivate let context: HLSContext

        /// Identifies a playlist by the generation of the response stored under the key `resource`.
        package init(generation: String, of resource: String, context: HLSContext) {
            (self.generation, self.resource, self.context) = (generation, resource, context)
        }
    }

    private struct State {
        /// Recently used playlists, and the previous batch without the playlists that have been used again.
        var recent: [Key: Result<Playlist, PlaylistError>] = [:]
        var former: [Key: Result<Playlist, PlaylistError>] = [:]
        /// Size of the recent playlists, in bytes.
        var size = 0
        var readCount = 0
    }

    /// The cache shared by the whole process.
    package static let shared = RememberedPlaylists()

    /// Approximate size of a link and its segment in memory, in bytes.
    private static let linkSize = 300

    /// Maximum size of all playlists in memory, in bytes.
    private let maximumSize: Int
    /// The lock is a leaf.
    private let state = Mutex(State())

    package init(maximumSize: Int = 32 << 20) { self.maximumSize = maximumSize }

    /// Number of cache misses that parsed a playlist.
    package var readCount: Int { state.withLock { $0.readCount } }

    /// The cached playlist for `key` with a fresh budget, or the cached error; `nil` on a cache miss.
    package subscript(key: Key) -> Result<Playlist, PlaylistError>? {
        let result = state.withLock { state -> Result<Playlist, PlaylistError>? in
            if let result = state.recent[key] { return result }
            guard let result = state.former.removeValue(forKey: key) else { return nil }
            insert(result, for: key, in: &state)
            return result
        }
        return result?.map { $0.withNewBudget() }
    }

    /// Returns the cached playlist for `key`, or parses `bytes` and caches the result.
    package func playlist(
        for key: Key, reading bytes: [UInt8], limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistError) -> Playlist {
        if let known = self[key] { return try known.get() }
        let result = Result { () throws(PlaylistError) in
            try Playlist(bytes, context: key.context, limits: limits)
        }
        state.withLock { $0.readCount += 1 }
        note(result, for: key)
        return try result.get()
    }

    /// Caches the result of parsing the playlist for `key`, unless it is too large or the work was canceled.
    package func note(_ result: Result<Playlist, PlaylistError>, for key: Key) {
        if case .failure(let error) = result, error.code == .canceled { return }
        state.withLock { insert(result, for: key, in: &$0) }
    }

    private func insert(_ result: Result<Playlist, PlaylistError>, for key: Key, in state: inout State) {
        let size = Self.size(result)
        guard size <= maximumSize / 2 else { return }
        if state.size + size > maximumSize / 2 { (state.former, state.recent, state.size) = (state.recent, [:], 0) }
        if let old = state.recent.updateValue(result, forKey: key) { state.size -= Self.size(old) }
        state.size += size
    }

    private static func size(_ result: Result<Playlist, PlaylistError>) -> Int {
        guard case .success(let playlist) = result else { return 1024 }
        return 1024 + playlist.bytes.count + playlist.links.count * linkSize
    }
}

extension Playlist {
    fileprivate func withNewBudget() -> Playlist {
        let budget = PlaylistBudget(budget.limits, forInput: bytes.count)
        switch self {
        case .hls(var list):
            list.budget = budget
            return .hls(list)
        case .dash(var mpd):
            mpd.budget = budget
            return .dash(mpd)
        }
    }
}
