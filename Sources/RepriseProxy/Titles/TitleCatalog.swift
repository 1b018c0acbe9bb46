import Foundation
import Primitives
import Reprise

/// A recent list of all titles, for orders that the index does not have.
///
/// A list of ten thousand titles takes some tenths of a second to read and some megabytes, so it is read by one request
/// at a time, used for the next ones, and forgotten when none comes any more.
actor TitleCatalog {
    /// All titles, the most recently used first, with their hosts and tags.
    struct Contents: Sendable {
        let titles: [Title]
        /// The hosts and tags of most titles, at most ``mostFacets`` of each, in alphabetical order.
        let facets: TitlesReport.Facets
    }

    /// Most titles that are sorted.
    static let mostTitles = 50_000
    private static let mostFacets = 50
    /// How old the list may be for a request that can wait, and for one that cannot.
    private static let (fresh, usable) = (Duration.seconds(5), Duration.seconds(60))

    private let cache: MediaCache
    private let clock: CacheClock
    /// The list that was read last; without contents if there were too many titles.
    private var last: (contents: Contents?, time: Duration)?
    /// The titles of ``last`` in other orders.
    private var sorted: [TitleOrder: [Title]] = [:]
    private var reading: Task<Void, any Error>?
    private var forgetting: Task<Void, Never>?

    init(_ cache: MediaCache, clock: CacheClock) { (self.cache, self.clock) = (cache, clock) }

    /// The titles that `search` finds, in `order`.
    ///
    /// Throws a failure if there are too many titles, and errors of the index.
    func titles(_ search: TitleSearch?, in order: TitleOrder) async throws -> [Title] {
        if !isFresh { try await read().value }
        guard let contents = last?.contents else {
            throw ControlFailure(
                400, "There are more than \(Self.mostTitles) titles: they have one order only, by last use.")
        }
        let all = sorted[order] ?? order.sorted(contents.titles)
        sorted[order] = all
        return search.map { search in all.filter { search.matches($0) } } ?? all
    }

    /// The hosts and tags of all titles, and the number of titles that `search` finds.
    ///
    /// Does not wait: if the list is too old, it is read for a later request, and without a list the result is `nil`.
    func overview(_ search: TitleSearch?) -> (facets: TitlesReport.Facets, count: Int)? {
        if !isFresh { _ = read() }
        guard let last, clock.elapsed() - last.time < Self.usable, let known = last.contents else { return nil }
        return (known.facets, search.map { search in known.titles.count { search.matches($0) } } ?? known.titles.count)
    }

    private var isFresh: Bool { last.map { clock.elapsed() - $0.time < Self.fresh } ?? false }

    private func read() -> Task<Void, any Error> {
        if let reading { return reading }
        let task = Task { [cache] in
            do {
                let isShort = try await cache.titleCount() <= Self.mostTitles
                keep(isShort ? Contents(try await cache.titles()) : nil)
            } catch {
                reading = nil
                throw error
            }
        }
        reading = task
        return task
    }

    private func keep(_ contents: Contents?) {
        (last, reading, sorted) = ((contents, clock.elapsed()), nil, [:])
        forgetting?.cancel()
        forgetting = Task { [clock, weak self] in
            do { try await clock.sleep(Self.usable) } catch { return }
            await self?.forget()
        }
    }

    private func forget() { (last, sorted) = (nil, [:]) }

    /// Ends its work in the background.
    func stop() {
        reading?.cancel()
        forgetting?.cancel()
    }
}

extension TitleCatalog.Contents {
    fileprivate init(_ titles: [Title]) {
        self.titles = titles
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

    /// `titles`, which are in the order of their last use, in this order.
    func sorted(_ titles: [Title]) -> [Title] {
        switch self {
        case .lastUsed: titles
        case .name:
            titles.map { (name: $0.shownName.lowercased(), title: $0) }
                .sorted { ($0.name, $0.title.key.text) < ($1.name, $1.title.key.text) }.map(\.title)
        case .size: titles.sorted { ($1.storedBytes, $0.key.text) < ($0.storedBytes, $1.key.text) }
        case .plays: titles.sorted { ($1.plays, $0.key.text) < ($0.plays, $1.key.text) }
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
