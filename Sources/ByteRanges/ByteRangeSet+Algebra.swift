extension ByteRangeSet {
    /// Returns the positions that are in this set, in `other`, or in both.
    ///
    /// O(*n* + *m*) for *m* spans in `other`; O(*m* log *n*) if `other` is much the smaller.
    public func union(_ other: ByteRangeSet) -> ByteRangeSet {
        var result = self
        result.formUnion(other)
        return result
    }

    /// Adds all positions of `other`; the same cost as `union(_:)`.
    public mutating func formUnion(_ other: ByteRangeSet) {
        if other.isMuchSmaller(than: self) {
            for span in other { insert(span) }
        } else {
            self = merged(with: other) { $0 || $1 }
        }
    }

    /// Returns the positions that are in this set and in `other`; O(*n* + *m*).
    public func intersection(_ other: ByteRangeSet) -> ByteRangeSet {
        merged(with: other) { $0 && $1 }
    }

    /// Keeps only the positions that are in `other` too; O(*n* + *m*).
    public mutating func formIntersection(_ other: ByteRangeSet) {
        self = intersection(other)
    }

    /// Returns the positions that are in this set and not in `other`.
    ///
    /// O(*n* + *m*) for *m* spans in `other`; O(*m* log *n*) if `other` is much the smaller.
    public func subtracting(_ other: ByteRangeSet) -> ByteRangeSet {
        var result = self
        result.subtract(other)
        return result
    }

    /// Removes all positions of `other`; the same cost as `subtracting(_:)`.
    public mutating func subtract(_ other: ByteRangeSet) {
        if other.isMuchSmaller(than: self) {
            for span in other { remove(span) }
        } else {
            self = merged(with: other) { $0 && !$1 }
        }
    }

    /// Returns the positions that are in this set or in `other`, but not in both; O(*n* + *m*).
    public func symmetricDifference(_ other: ByteRangeSet) -> ByteRangeSet {
        merged(with: other) { $0 != $1 }
    }

    /// Keeps the positions that are in this set or in `other`, but not in both; O(*n* + *m*).
    public mutating func formSymmetricDifference(_ other: ByteRangeSet) {
        self = symmetricDifference(other)
    }

    /// Whether editing `set` span by span beats a merge: each edit costs a search, each merged span a few steps.
    private func isMuchSmaller(than set: ByteRangeSet) -> Bool {
        spanCount < set.spanCount / 16
    }

    /// Sweeps over the edges of both sets and keeps the positions for which `keep` is true.
    ///
    /// All edges at one position are crossed before `keep` is asked, so spans that meet come out joined. `keep` gets
    /// "inside this set" and "inside the other", and must be false outside both.
    private func merged(with other: ByteRangeSet, keep: (Bool, Bool) -> Bool) -> ByteRangeSet {
        var ours = Edges(table)
        var theirs = Edges(other.table)
        var result = SpanTable(chunkCapacity: table.chunkCapacity)
        var start: Int64?
        while let position = Edges.nearest(ours, or: theirs) {
            ours.cross(position)
            theirs.cross(position)
            let isKept = keep(ours.isInside, theirs.isInside)
            if isKept, start == nil {
                start = position
            } else if !isKept, let lower = start {
                result.append(lower..<position)
                start = nil
            }
        }
        return ByteRangeSet(table: result)
    }
}

/// The starts and ends of a table's spans, walked in ascending order.
private struct Edges {
    let table: SpanTable
    private var index: SpanTable.Index
    private var span: Range<Int64>?
    private(set) var isInside = false

    init(_ table: SpanTable) {
        self.table = table
        index = table.startIndex
        span = table.span(at: index)
    }

    private var next: Int64? {
        isInside ? span?.upperBound : span?.lowerBound
    }

    static func nearest(_ one: Edges, or other: Edges) -> Int64? {
        guard let a = one.next else { return other.next }
        guard let b = other.next else { return a }
        return min(a, b)
    }

    /// Steps over the next edge if it lies at `position`.
    mutating func cross(_ position: Int64) {
        guard next == position else { return }
        if isInside {
            index = table.index(after: index)
            span = table.span(at: index)
        }
        isInside.toggle()
    }
}
