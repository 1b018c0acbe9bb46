import ByteRanges

extension ByteRangeSet {
    /// First bytes and ends of at most `count` spans, for a picture: of more, those with the narrowest holes between
    /// them are joined.
    func shownSpans(atMost count: Int) -> [[Int64]] {
        var spans = Array(self)
        guard count > 0, spans.count > count else { return count > 0 ? spans.map(\.bounds) : [] }
        let holes = spans.indices.dropFirst().map { (width: spans[$0].lowerBound - spans[$0 - 1].upperBound, at: $0) }
        let kept = Set(holes.sorted { ($0.width, $1.at) > ($1.width, $0.at) }.prefix(count - 1).map(\.at))
        var joined: [Range<Int64>] = []
        for (index, span) in spans.enumerated() {
            if let last = joined.last, !kept.contains(index) {
                joined[joined.count - 1] = last.lowerBound..<span.upperBound
            } else {
                joined.append(span)
            }
        }
        spans = joined
        return spans.map(\.bounds)
    }
}

extension Range<Int64> {
    fileprivate var bounds: [Int64] { [lowerBound, upperBound] }
}
