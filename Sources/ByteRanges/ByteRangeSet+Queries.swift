extension ByteRangeSet {
    /// Returns whether the byte at `position` is in the set; O(log *n*).
    public func contains(_ position: Int64) -> Bool {
        !storedPrefix(from: position).isEmpty
    }

    /// Returns whether every position of `range` is in the set; O(log *n*).
    ///
    /// An empty range is always contained. This checks positions, not whether `range` is one of the spans, as
    /// `Sequence.contains(_:)` would.
    public func contains(_ range: Range<Int64>) -> Bool {
        range.isEmpty || storedPrefix(from: range.lowerBound).upperBound >= range.upperBound
    }

    /// Returns whether at least one position of `range` is in the set; O(log *n*).
    ///
    /// An empty range intersects nothing.
    public func intersects(_ range: Range<Int64>) -> Bool {
        guard !range.isEmpty, let span = table.span(at: table.firstIndex(endingAfter: range.lowerBound)) else {
            return false
        }
        return span.lowerBound < range.upperBound
    }

    /// Returns the part from `position` on of the span that covers `position`; O(log *n*).
    ///
    /// If `position` is in a hole, the result is the empty range `position..<position`.
    public func storedPrefix(from position: Int64) -> Range<Int64> {
        let index = table.firstIndex(endingAfter: position)
        guard let span = table.span(at: index), span.lowerBound <= position else { return position..<position }
        return position..<span.upperBound
    }

    /// Returns the first position at or after `position` that is not in the set; O(log *n*).
    ///
    /// `Int64.max` can end a range but is no position itself, so the result is `nil` when everything from `position`
    /// up to `Int64.max` is in the set, and for `position == Int64.max`.
    public func firstHole(from position: Int64) -> Int64? {
        let end = storedPrefix(from: position).upperBound
        return end == .max ? nil : end
    }

    /// Returns the first run of positions in `range` that is not in the set, clipped to `range`; O(log *n*).
    ///
    /// The result is `nil` if the set contains `range`, and so for an empty range.
    public func firstHole(in range: Range<Int64>) -> Range<Int64>? {
        let index = table.firstIndex(endingAfter: range.lowerBound)
        guard let span = table.span(at: index), span.lowerBound < range.upperBound else {
            return range.isEmpty ? nil : range
        }
        guard span.lowerBound <= range.lowerBound else { return range.lowerBound..<span.lowerBound }
        guard span.upperBound < range.upperBound else { return nil }
        let next = table.span(at: table.index(after: index))?.lowerBound ?? .max
        return span.upperBound..<Swift.min(next, range.upperBound)
    }

    /// Returns the stored parts of `range`, ascending, clipped to it, none empty; O(log *n* + *k*).
    ///
    /// Together with `holes(in:)` they cover `range` exactly.
    public func spans(in range: Range<Int64>) -> [Range<Int64>] {
        guard !range.isEmpty else { return [] }
        var spans: [Range<Int64>] = []
        var index = table.firstIndex(endingAfter: range.lowerBound)
        while let span = table.span(at: index), span.lowerBound < range.upperBound {
            spans.append(span.clamped(to: range))
            index = table.index(after: index)
        }
        return spans
    }

    /// Returns the missing parts of `range`, ascending, clipped to it, none empty; O(log *n* + *k*).
    ///
    /// Together with `spans(in:)` they cover `range` exactly.
    public func holes(in range: Range<Int64>) -> [Range<Int64>] {
        guard !range.isEmpty else { return [] }
        var holes: [Range<Int64>] = []
        var position = range.lowerBound
        var index = table.firstIndex(endingAfter: position)
        while let span = table.span(at: index), span.lowerBound < range.upperBound {
            if position < span.lowerBound { holes.append(position..<span.lowerBound) }
            position = span.upperBound
            index = table.index(after: index)
        }
        if position < range.upperBound { holes.append(position..<range.upperBound) }
        return holes
    }
}
