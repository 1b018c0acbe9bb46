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
    package mutating func paths(to link: Link) -> [Path] {
        if link.kind.ignoresBaseURL { return [[]] }
        let key = Key(scope: link.scope, kind: link.kind)
        if let paths = known[key] { return paths }
        let paths = link.kind == .baseURL ? pathsAround(link.scope) : pathsBelow(link.scope, to: link.kind)
        known[key] = paths
        return paths
    }

    /// Through the levels outside of the one where a `BaseURL` stands.
    private func pathsAround(_ scope: LinkScope) -> [Path] {
        guard let period = scope.period else { return [[]] }
        let period1 = mpd.periods[period]
        guard let set = scope.adaptationSet else { return Self.product([mpd.baseURLs]) }
        let set1 = period1.adaptationSets[set]
        guard scope.representation != nil else { return Self.product([mpd.baseURLs, period1.baseURLs]) }
        return Self.product([mpd.baseURLs, period1.baseURLs, set1.baseURLs])
    }

    /// Through the levels around what stands in `scope`, and those further in that inherit it.
    private func pathsBelow(_ scope: LinkScope, to kind: LinkKind) -> [Path] {
        guard let period = scope.period else { return Self.product([mpd.baseURLs]) }
        let outer = [mpd.baseURLs, mpd.periods[period].baseURLs]
        let sets = mpd.periods[period].adaptationSets
        var result: [Path] = []
        for (index, set) in sets.enumerated() where scope.adaptationSet.map({ $0 == index }) ?? true {
            if scope.adaptationSet == nil, set.segments?.replaces(kind) == true { continue }
            for (number, representation) in set.representations.enumerated()
            where scope.representation.map({ $0 == number }) ?? true {
                if scope.representation == nil, representation.segments?.replaces(kind) == true { continue }
                for path in Self.product(outer + [set.baseURLs, representation.baseURLs])
                where !result.contains(path) {
                    result.append(path)
                    if result.count == Self.most { return result }
                }
            }
        }
        if !result.isEmpty { return result }
        let set = scope.adaptationSet.flatMap { sets.indices.contains($0) ? sets[$0].baseURLs : nil }
        return Self.product(outer + [set ?? []])
    }

    /// One `BaseURL` of each level; an empty one changes nothing.
    private static func product(_ levels: [[BaseURL]]) -> [Path] {
        levels.reduce([[]]) { paths, level in
            level.isEmpty
                ? paths
                : Array(paths.lazy.flatMap { path in level.map { path + ($0.link.map { [$0] } ?? []) } }.prefix(most))
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
