extension MPD {
    /// Each `@startNumber` of a `SegmentList` that no representation ends by an `@endNumber`: no link depends on these
    /// numbers.
    package var startNumbersOfLists: [Range<Int>] {
        let information = periods.flatMap { period in
            [period.segments]
                + period.adaptationSets.flatMap { set in [set.segments] + set.representations.map(\.segments) }
        }
        // The two may stand on different levels.
        let needed = Set(
            paths.compactMap { segmentInformation(of: $0) }.filter { $0.endNumber != nil }
                .compactMap(\.startNumberAttribute))
        return information.compactMap { $0 }.filter { $0.kind == .list && $0.endNumber == nil }
            .compactMap(\.startNumberAttribute)
            .filter { !needed.contains($0) }
    }
}
