/// A set of byte positions, kept as ascending half-open spans that neither overlap nor touch.
///
/// Spans that meet are joined: after inserting `0..<100` and `100..<200` the set has the one span `0..<200`. Every
/// position from `Int64.min` up to, but not including, `Int64.max` can be a member; no bound traps.
///
/// The set is a value. A copy costs O(1). The first change after it copies one chunk of at most 512 spans and the
/// directory of chunks, not all spans. The set does not know how long the file is: a hole after the last span has no
/// end unless the caller gives one.
///
/// In the costs below, *n* is the number of spans and *k* the number of spans an operation touches.
public struct ByteRangeSet: Sendable {
    var table: SpanTable

    /// Creates an empty set, without allocating.
    public init() {
        table = SpanTable()
    }

    /// Creates a set of one span, or an empty set if `range` is empty.
    public init(_ range: Range<Int64>) {
        self.init()
        insert(range)
    }

    /// Creates the union of `ranges`, which may overlap, touch, be empty and come in any order.
    ///
    /// O(*m*) for *m* ranges in ascending order, O(*m* log *m*) otherwise.
    public init(_ ranges: some Sequence<Range<Int64>>) {
        self.init()
        for range in ranges { insert(range) }
    }

    init(table: SpanTable) {
        self.table = table
    }

    /// Creates an empty set whose chunks hold at most `chunkCapacity` spans, so that a test needs few spans for many
    /// chunks.
    package init(chunkCapacity: Int) {
        precondition(chunkCapacity >= 2, "A full chunk is split in two, so it needs room for at least two spans.")
        table = SpanTable(chunkCapacity: chunkCapacity)
    }

    /// Whether the set has no span.
    public var isEmpty: Bool { table.spanCount == 0 }

    /// The number of spans; O(1).
    public var spanCount: Int { table.spanCount }

    /// The number of bytes in all spans together; O(1).
    ///
    /// The value stops at `Int64.max`, which only a set with negative positions can exceed.
    public var byteCount: Int64 { Int64(clamping: table.byteTotal) }

    /// The range from the first span's start to the last span's end, or `nil` if the set is empty; O(1).
    public var bounds: Range<Int64>? {
        guard let first = table.firstSpan, let last = table.lastSpan else { return nil }
        return first.lowerBound..<last.upperBound
    }

    /// Adds all positions of `range`, joining the spans it overlaps or touches, and returns whether the set changed.
    ///
    /// An empty range changes nothing, nor does one that is already contained. O(1) at or beyond the last span;
    /// O(log *n* + *k*) elsewhere, plus a move within one chunk.
    @discardableResult
    public mutating func insert(_ range: Range<Int64>) -> Bool {
        guard !range.isEmpty else { return false }
        guard let last = table.lastSpan, range.lowerBound <= last.upperBound else {
            table.append(range)
            return true
        }
        if range.lowerBound >= last.lowerBound {
            guard range.upperBound > last.upperBound else { return false }
            table.extendLastSpan(to: range.upperBound)
            return true
        }
        return insertBeforeLastSpan(range)
    }

    private mutating func insertBeforeLastSpan(_ range: Range<Int64>) -> Bool {
        let start = table.firstIndex(endingAtOrAfter: range.lowerBound)
        let first = table[start]
        if range.upperBound < first.lowerBound {
            table.insert(range, at: start)
            return true
        }
        if first.lowerBound <= range.lowerBound, range.upperBound <= first.upperBound { return false }

        let end = table.lastIndex(startingAtOrBefore: range.upperBound)
        let lower = Swift.min(first.lowerBound, range.lowerBound)
        let upper = Swift.max(table[end].upperBound, range.upperBound)
        table.replace(start, through: end, with: CollectionOfOne(lower..<upper))
        return true
    }

    /// Removes all positions of `range`, cutting spans that reach beyond it, and returns whether the set changed.
    ///
    /// A span that only touches `range` stays whole; an empty range changes nothing. O(log *n* + *k*), plus a move
    /// within one chunk.
    @discardableResult
    public mutating func remove(_ range: Range<Int64>) -> Bool {
        guard !range.isEmpty else { return false }
        let start = table.firstIndex(endingAfter: range.lowerBound)
        guard let first = table.span(at: start), first.lowerBound < range.upperBound else { return false }
        // `range` is not empty, so its last position does not underflow.
        let end = table.lastIndex(startingAtOrBefore: range.upperBound - 1)
        let upper = table[end].upperBound

        var rest: [Range<Int64>] = []
        if first.lowerBound < range.lowerBound { rest.append(first.lowerBound..<range.lowerBound) }
        if range.upperBound < upper { rest.append(range.upperBound..<upper) }
        table.replace(start, through: end, with: rest)
        return true
    }

    /// Empties the set and releases its storage.
    public mutating func removeAll() {
        table = SpanTable(chunkCapacity: table.chunkCapacity)
    }
}
