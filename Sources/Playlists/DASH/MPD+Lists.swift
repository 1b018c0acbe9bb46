extension MPD {
    /// Each `@startNumber` of a `SegmentList` that has no `@endNumber`: no link depends on these numbers.
    package var startNumbersOfLists: [Range<Int>] {
        let information = periods.flatMap { period in
            [period.segments]
                + period.adaptationSets.flatMap { set in [set.segments] + set.representations.map(\.segments) }
        }
        return information.compactMap { $0 }.filter { $0.kind == .list && $0.endNumber == nil }
            .compactMap(\.startNumberAttribute)
    }
}
