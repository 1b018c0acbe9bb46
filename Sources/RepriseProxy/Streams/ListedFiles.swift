import Playlists
import Primitives
import Reprise

/// What the playlists that were served last say about the files that they list.
///
/// In memory only: a player loads a playlist before its files. The oldest lists go when there are too many. Each
/// request is looked up by hashes, so its cost does not depend on the number of lists.
final class ListedFiles: Sendable {
    /// What is known of a file.
    struct Found: Sendable {
        /// How it is treated; `nil` if no list names it.
        var file: ListedFile?
        /// The titles that it belongs to.
        var titles: [TitleReference] = []
        /// ``ListedFiles/version`` at the time.
        var version = 0
    }

    private struct State {
        /// The lists by their numbers, which rise in the order in which they were noted.
        var listings: [Int: Listing] = [:]
        var numbers: [String: Int] = [:]
        /// Numbers of lists, the oldest first; some may be gone.
        var order: [Int] = []
        /// The number that is given next.
        var next = 0
        var weight = 0
        var version = 0
        /// The lists that name a file, by the hash of its URL.
        var files: [Int: ListingNumbers] = [:]
        var patterns = ListedPatterns()
        /// Number of lists and patterns looked at so far, for tests.
        var steps = 0

        /// The lists that name the file at `url`, the oldest first.
        mutating func owners(of url: String) -> [ListingNumbers.Owner] {
            var owners = files[url.hashValue]?.all ?? []
            steps += owners.count
            owners += patterns.owners(of: url, steps: &steps)
            return owners.sorted { $0.number < $1.number }
        }

        /// Takes away a list; its files are still to be forgotten.
        mutating func remove(_ number: Int) -> Listing? {
            guard let listing = listings.removeValue(forKey: number) else { return nil }
            weight -= listing.weight
            if numbers[listing.name] == number { numbers[listing.name] = nil }
            return listing
        }
    }

    /// Maximum weight of all lists together; see ``Listing/weight``.
    private let capacity: Int
    /// Maximum number of lists.
    private let mostListings: Int
    /// A leaf, held for ``step`` files of a list at most: event loops wait for it.
    private let state = Mutex(State())
    private static let step = 2048

    init(capacity: Int = 200_000, mostListings: Int = 10_000) {
        (self.capacity, self.mostListings) = (capacity, mostListings)
    }

    /// Changes with each list that is noted.
    var version: Int { state.withLock { $0.version } }

    /// Number of lists and patterns that all requests together looked at.
    var steps: Int { state.withLock { $0.steps } }

    /// What is known of the file at `url`, which has this name if it is a playlist itself.
    ///
    /// A key stays a key, and a file of a list that has ended never changes, whatever other lists say. Otherwise the
    /// newest list counts.
    func find(_ url: ResourceURL, named name: String? = nil) -> Found {
        let text = url.description
        return state.withLock { state in
            var found = Found(version: state.version)
            var isFirm = false
            let own = name.flatMap { state.numbers[$0] }.flatMap { state.listings[$0] }
            for owner in state.owners(of: text) {
                guard let listing = state.listings[owner.number] else { continue }
                if let file = listing.file(owner.uses, at: text) {
                    let isFirmer = file.isFirm
                    if isFirmer || !isFirm { found.file = file }
                    isFirm = isFirm || isFirmer
                }
                if !owner.uses.isDisjoint(with: .ofTitle) { found.add(listing.titles) }
            }
            if let own { found.add(own.titles) }
            return found
        }
    }

    /// Whether this version of the list with this name was noted before as one of all these titles.
    func knows(_ name: String, generation: String, in titles: [TitleReference] = []) -> Bool {
        guard !generation.isEmpty else { return false }
        return state.withLock { state in
            guard let listing = state.numbers[name].flatMap({ state.listings[$0] }) else { return false }
            return listing.generation == generation && titles.allSatisfy(listing.titles.contains)
        }
    }

    /// The remembered list with this name, if there is one.
    func listing(named name: String) -> Listing? {
        state.withLock { state in state.numbers[name].flatMap { state.listings[$0] } }
    }

    /// Remembers a list in place of its earlier version; returns that.
    func note(_ listing: Listing) -> Listing? {
        let (number, former, gone) = state.withLock { state in
            let number = state.next
            state.next += 1
            let formerNumber = state.numbers[listing.name]
            let former = formerNumber.flatMap { state.remove($0) }
            state.listings[number] = listing
            state.numbers[listing.name] = number
            state.order.append(number)
            state.weight += listing.weight
            var gone: [(Int, Listing)] = []
            if let formerNumber, let former { gone.append((formerNumber, former)) }
            var oldest = 0
            while state.weight > capacity || state.listings.count > mostListings, state.listings.count > 1 {
                if let old = state.remove(state.order[oldest]) { gone.append((state.order[oldest], old)) }
                oldest += 1
            }
            state.order.removeFirst(oldest)
            if state.order.count > 2 * state.listings.count + 16 {
                state.order.removeAll { state.listings[$0] == nil }
            }
            return (number, former, gone)
        }
        // The new list first: what both name is known all the time.
        eachStep(of: listing) { state, files, patterns in
            // Another list may have taken its place, which forgets what is added here before that.
            guard state.listings[number] != nil else { return }
            for (hash, uses) in files { state.files[hash, default: ListingNumbers()].add(number, uses) }
            for pattern in patterns { state.patterns.add(pattern, number) }
        }
        for (number, listing) in gone {
            eachStep(of: listing) { state, files, patterns in
                for (hash, _) in files where state.files[hash]?.remove(number) == true { state.files[hash] = nil }
                for pattern in patterns { state.patterns.remove(pattern, number) }
            }
        }
        // Last, so that results of the time in between are looked up again.
        state.withLock { $0.version += 1 }
        return former
    }

    private func eachStep(
        of listing: Listing,
        _ body: (inout State, ArraySlice<(key: Int, value: Listing.Uses)>, [ListedPattern]) -> Void
    ) {
        let files = Array(listing.files)
        var (start, patterns) = (0, listing.patterns)
        repeat {
            let end = min(start + Self.step, files.count)
            state.withLock { body(&$0, files[start..<end], patterns) }
            (start, patterns) = (end, [])
        } while start < files.count
    }
}

extension ListedFiles.Found {
    fileprivate mutating func add(_ more: [TitleReference]) {
        for title in more where !titles.contains(title) && titles.count < Listing.mostTitles { titles.append(title) }
    }
}

/// The lists that name one file, or one pattern of files.
struct ListingNumbers: Sendable {
    struct Owner: Sendable {
        let number: Int
        let uses: Listing.Uses
    }

    /// Maximum number of lists that are kept; beyond it the oldest goes for which the file is no key.
    static let most = 32

    private var first: Owner?
    /// Empty as a rule: most files stand in one list.
    private var more: [Owner] = []

    /// The lists, the oldest first.
    var all: [Owner] { first.map { [$0] + more } ?? [] }

    /// Adds the newest list.
    mutating func add(_ number: Int, _ uses: Listing.Uses) {
        guard let first else {
            self.first = Owner(number: number, uses: uses)
            return
        }
        more.append(Owner(number: number, uses: uses))
        guard more.count >= Self.most else { return }
        let spare = all.first { !$0.uses.contains(.key) } ?? first
        _ = remove(spare.number)
    }

    /// Forgets a list; true if none is left.
    mutating func remove(_ number: Int) -> Bool {
        if first?.number == number {
            first = more.isEmpty ? nil : more.removeFirst()
        } else if !more.isEmpty {
            more.removeAll { $0.number == number }
        }
        return first == nil
    }
}
