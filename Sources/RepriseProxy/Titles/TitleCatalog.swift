import Foundation
import Primitives
import Reprise

/// A recent list of all titles, for searches and for orders that the index does not have.
///
/// A list of ten thousand titles takes some tenths of a second to read and some megabytes. So it is read by one request
/// at a time, also in the background while it is used, and forgotten when no request comes any more.
actor TitleCatalog {
    /// All titles, the most recently used first, with their hosts and tags.
    struct Contents: Sendable {
        let titles: [(title: Title, text: TitleSearch.Text)]
        /// The hosts and tags of most titles, at most ``mostFacets`` of each, in alphabetical order.
        let facets: TitlesReport.Facets
    }

    private struct Reading {
        let task: Task<Void, Never>
        let end: Promise<Result<Void, any Error>>
        /// How many changes it knows of.
        let changes: Int
    }

    /// Most titles that are searched and sorted.
    static let mostTitles = 100_000
    private static let mostFacets = 50
    /// How old the list may be before it is read again, and before it is not used any more.
    private static let (fresh, usable) = (Duration.seconds(5), Duration.seconds(60))
    /// Most of the time that is spent on reading the list again in the background: one part of so many.
    private static let readingShare = 20

    private let cache: MediaCache
    private let clock: CacheClock
    /// The list that was read last; without contents if there were too many titles.
    private var last: (contents: Contents?, time: Duration, duration: Duration, changes: Int)?
    /// The indices of the titles of ``last`` in other orders.
    private var sorted: [TitleOrder: [Int]] = [:]
    private var reading: Reading?
    private var forgetting: Task<Void, Never>?
    /// Number of changes that clients have made.
    private var changes = 0

    init(_ cache: MediaCache, clock: CacheClock) { (self.cache, self.clock) = (cache, clock) }

    /// The titles that `search` finds, in `order`.
    ///
    /// A list that is no more than a minute old is used, unless a client has changed something. Throws a failure if
    /// there are too many titles, and errors of the index.
    func titles(_ search: TitleSearch?, in order: TitleOrder) async throws -> [Title] {
        // An empty list costs nothing to read again, and would look like a fault just after something was played.
        if last?.contents?.titles.isEmpty == true { try await read().wait().get() }
        while !isUsable || last?.changes != changes { try await read().wait().get() }
        guard let contents = known else {
            throw ControlFailure(
                400, "There are more than \(Self.mostTitles) titles: they can be listed by last use only.")
        }
        let titles = contents.titles
        let indices = sorted[order] ?? order.sorted(titles.map(\.title))
        sorted[order] = indices
        return indices.lazy.map { titles[$0] }.filter { search?.matches($0.title, text: $0.text) ?? true }
            .map(\.title)
    }

    /// The hosts and tags of all titles, and the number of titles that `search` finds.
    ///
    /// Returns `nil` if no list was read lately.
    func overview(_ search: TitleSearch?) -> (facets: TitlesReport.Facets, count: Int)? {
        guard let known else { return nil }
        let titles = known.titles
        return (
            known.facets,
            search.map { search in titles.count { search.matches($0.title, text: $0.text) } } ?? titles.count
        )
    }

    /// The next request waits for a new list.
    func noteChange() { changes += 1 }

    private var isUsable: Bool { last.map { clock.elapsed() - $0.time < Self.usable } ?? false }

    /// The list, if it is usable; one that is not fresh is read again.
    private var known: Contents? {
        if last.map({ clock.elapsed() - $0.time >= max(Self.fresh, $0.duration * Self.readingShare) }) ?? true {
            _ = read()
        }
        return isUsable ? last?.contents : nil
    }

    private func read() -> Promise<Result<Void, any Error>> {
        if let reading, reading.changes == changes { return reading.end }
        let end = Promise<Result<Void, any Error>>()
        let task = Task { [cache, clock, changes, former = reading?.task] in
            await former?.value
            let start = clock.elapsed()
            do {
                let isShort = try await cache.titleCount() <= Self.mostTitles
                let (contents, sorted) =
                    try await isShort ? Contents.read(from: cache, sortedBy: Array(sorted.keys)) : (nil, [:])
                keep(contents, sorted, since: start, changes)
                end.fulfill(.success(()))
            } catch {
                end.fulfill(.failure(error))
            }
            if reading?.changes == changes { reading = nil }
        }
        reading = Reading(task: task, end: end, changes: changes)
        return end
    }

    private func keep(_ contents: Contents?, _ sorted: [TitleOrder: [Int]], since start: Duration, _ changes: Int) {
        let now = clock.elapsed()
        (last, self.sorted) = ((contents, now, now - start, changes), sorted)
        forgetting?.cancel()
        forgetting = Task { [clock, weak self] in
            do { try await clock.sleep(Self.usable) } catch { return }
            await self?.forget()
        }
    }

    private func forget() { (last, sorted) = (nil, [:]) }

    /// Ends its work in the background.
    func stop() {
        reading?.task.cancel()
        forgetting?.cancel()
    }
}

extension TitleCatalog.Contents {
    /// The titles of `cache`, also in each of `orders`; takes no time of an actor.
    @concurrent fileprivate static func read(
        from cache: MediaCache, sortedBy orders: [TitleOrder]
    ) async throws -> (Self, [TitleOrder: [Int]]) {
        let contents = Self(try await cache.titles())
        let titles = contents.titles.map(\.title)
        return (contents, Dictionary(uniqueKeysWithValues: orders.map { ($0, $0.sorted(titles)) }))
    }

    private init(_ all: [Title]) {
        // A title may have a name, or be kept, before any of its bytes is stored.
        let titles = all.filter { $0.fileCount > 0 }
        self.titles = titles.map { ($0, TitleSearch.text(of: $0)) }
        facets = TitlesReport.Facets(
            hosts: Self.commonest(titles.map(\.url.authority)), tags: Self.commonest(titles.compactMap(\.tag)))
    }

    private static func commonest(_ texts: [String]) -> [String] {
        let counts = texts.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(TitleCatalog.mostFacets).map(\.key)
            .sorted()
    }
}

/// The order of a list of titles.
enum TitleOrder: String, CaseIterable {
    case lastUsed, name, size, plays

    /// The indices of `titles`, which are in the order of their last use, in this order.
    func sorted(_ titles: [Title]) -> [Int] {
        func sorted<Value: Comparable>(descending: Bool = false, _ value: (Title) -> Value) -> [Int] {
            let values = titles.map(value)
            return titles.indices.sorted { first, second in
                guard values[first] == values[second] else { return (values[first] < values[second]) != descending }
                return titles[first].key.text < titles[second].key.text
            }
        }
        return switch self {
        case .lastUsed: Array(titles.indices)
        case .name: sorted { $0.shownName.lowercased() }
        case .size: sorted(descending: true) { $0.storedBytes }
        case .plays: sorted(descending: true) { $0.plays }
        }
    }
}

extension Title {
    /// Its name, or one made from its URL, as people read it.
    var shownName: String {
        if let name { return name }
        let path = TitleName.path(of: url.redacted)
        return path.removingPercentEncoding ?? path
    }
}
