/// The ways from the URL of an MPD to the base of a link: one `BaseURL` of each level that has some (ISO/IEC 23009-1
/// §5.6).
///
/// There are several if a level has alternatives, or if the link stands further out than the `BaseURL` of the
/// representations that inherit it: a pattern of an adaptation set is resolved by each representation for itself.
package struct BasePaths: Sendable {
    /// Indices in ``MPD/links``, from the outside in.
    package typealias Path = [Int]

    /// More ways are not followed.
    package static let most = 8

    private struct Key: Hashable {
        let scope: LinkScope
        let kind: LinkKind
    }

    private let mpd: MPD
    private var known: [Key: [Path]] = [:]

    /// Creates the ways through `mpd`.
    package init(_ mpd: MPD) { self.mpd = mpd }

    /// The ways to the base of `link`, at least one and at most ``most``, the first alternatives first.
    ///
    /// Each representation that is looked at counts in the budget of the MPD; once that is exceeded, ways are missing.
    package mutating func paths(to link: Link) -> [Path] {
        if link.kind.ignoresBaseURL { return [[]] }
        let key = Key(scope: link.scope, kind: link.kind)
        if let paths = known[key] { return paths }
        let paths = link.kind == .baseURL ? around(link.scope) : below(link.scope, to: link.kind)
        _ = mpd.budget.allows(bytes: paths.reduce(0) { $0 + ($1.count + 8) * MemoryLayout<Int>.stride })
        known[key] = paths
        return paths
    }

    /// Through the levels outside of the one where a `BaseURL` stands.
    private func around(_ scope: LinkScope) -> [Path] {
        guard let period = scope.period else { return [[]] }
        guard let set = scope.adaptationSet else { return Self.extended([[]], by: mpd.baseURLs) }
        let outer = outside(ofSetsIn: period)
        return scope.representation == nil
            ? outer : Self.extended(outer, by: mpd.periods[period].adaptationSets[set].baseURLs)
    }

    /// Through the levels around what stands in `scope`, and those further in that inherit it.
    private func below(_ scope: LinkScope, to kind: LinkKind) -> [Path] {
        guard let period = scope.period else { return Self.extended([[]], by: mpd.baseURLs) }
        let outer = outside(ofSetsIn: period)
        let sets = mpd.periods[period].adaptationSets
        guard let number = scope.adaptationSet else {
            var found = Found()
            for set in sets where mpd.budget.allows() && set.segments?.replaces(kind) != true {
                add(set, outside: outer, to: kind, in: &found)
                if found.isFull { break }
            }
            return found.paths.isEmpty ? outer : found.paths
        }
        guard let set = sets.indices.contains(number) ? sets[number] : nil else { return outer }
        if let representation = scope.representation {
            return Self.extended(
                Self.extended(outer, by: set.baseURLs), by: set.representations[representation].baseURLs)
        }
        var found = Found()
        add(set, outside: outer, to: kind, in: &found)
        return found.paths.isEmpty ? Self.extended(outer, by: set.baseURLs) : found.paths
    }

    /// Adds the ways to the representations of `set` that inherit a link of this kind.
    private func add(_ set: AdaptationSet, outside outer: [Path], to kind: LinkKind, in found: inout Found) {
        let inner = Self.extended(outer, by: set.baseURLs)
        var isInnerKnown = false
        for representation in set.representations where !found.isFull {
            guard mpd.budget.allows() else { return }
            if representation.segments?.replaces(kind) == true { continue }
            if representation.baseURLs.isEmpty {
                if !isInnerKnown { found.add(inner) }
                isInnerKnown = true
            } else {
                found.add(Self.extended(inner, by: representation.baseURLs))
            }
        }
    }

    private func outside(ofSetsIn period: Int) -> [Path] {
        Self.extended(Self.extended([[]], by: mpd.baseURLs), by: mpd.periods[period].baseURLs)
    }

    /// Each of `paths` with each `BaseURL` of the next level; an empty one changes nothing.
    private static func extended(_ paths: [Path], by level: [BaseURL]) -> [Path] {
        if level.isEmpty { return paths }
        var result: [Path] = []
        for path in paths {
            for base in level.prefix(most - result.count) { result.append(path + (base.link.map { [$0] } ?? [])) }
        }
        return result
    }

    /// Different ways, in the order in which they were found.
    private struct Found {
        private(set) var paths: [Path] = []
        private var known: Set<Path> = []

        var isFull: Bool { paths.count == BasePaths.most }

        mutating func add(_ more: [Path]) {
            for path in more where !isFull && known.insert(path).inserted { paths.append(path) }
        }
    }
}

extension SegmentInformation {
    /// Whether what is said here keeps a link of this kind from being inherited.
    fileprivate func replaces(_ link: LinkKind) -> Bool {
        switch link {
        case .mediaTemplate: media != nil
        case .initializationTemplate: initializationTemplate != nil
        case .segment: segmentURLs != nil
        case .map: initialization != nil
        default: false
        }
    }
}
