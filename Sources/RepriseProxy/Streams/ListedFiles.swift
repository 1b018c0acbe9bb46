import Primitives
import Playlists
import Reprise

/// What the playlists that were served last say about the files that they list.
///
/// In memory only: a player loads a playlist before its files. The oldest lists go when there are too many.
final class ListedFiles: Sendable {
    private struct State {
        var listings: [Listing] = []
        var count = 0
        var version = 0
    }

    /// Most files of all lists together, 8 bytes each and the table's overhead.
    private let capacity: Int
    /// A leaf.
    private let state = Mutex(State())

    init(capacity: Int = 200_000) { self.capacity = capacity }

    /// Changes with each list that is noted.
    var version: Int { state.withLock { $0.version } }

    /// How the file at `url` is treated; `nil` if no list names it.
    ///
    /// A key stays a key, and a file of a list that has ended never changes, whatever other lists say. Otherwise the
    /// newest list counts.
    func file(at url: ResourceURL) -> ListedFile? {
        let text = url.description
        let hash = text.hashValue
        return state.withLock { state in
            var result: ListedFile?
            for listing in state.listings.reversed() {
                guard let found = listing.file(text, hash: hash) else { continue }
                if found == .key || found == .stored(.endedSegment) { return found }
                result = result ?? found
            }
            return result
        }
    }

    /// The titles of the playlists that name the file at `url`, and of the playlist with this name.
    func titles(at url: ResourceURL, named name: String?) -> [TitleReference] {
        let text = url.description
        let hash = text.hashValue
        return state.withLock { state in
            var titles: [TitleReference] = []
            for listing in state.listings where listing.name == name || listing.names(text, hash: hash) {
                for title in listing.titles where !titles.contains(title) { titles.append(title) }
            }
            return titles
        }
    }

    /// Whether this version of the list with this name was noted before as one of all these titles.
    func knows(_ name: String, generation: String, in titles: [TitleReference] = []) -> Bool {
        guard !generation.isEmpty else { return false }
        return state.withLock { state in
            state.listings.contains { listing in
                listing.name == name && listing.generation == generation
                    && titles.allSatisfy(listing.titles.contains)
            }
        }
    }

    /// Remembers a list in place of its earlier version; returns that.
    func note(_ listing: Listing) -> Listing? {
        state.withLock { state in
            state.version += 1
            var former: Listing?
            if let index = state.listings.firstIndex(where: { $0.name == listing.name }) {
                former = state.listings.remove(at: index)
                state.count -= former?.count ?? 0
            }
            state.listings.append(listing)
            state.count += listing.count
            while state.count > capacity, state.listings.count > 1 {
                state.count -= state.listings.removeFirst().count
            }
            return former
        }
    }
}
