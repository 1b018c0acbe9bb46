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

extension ByteRangeSet: Sequence {
    /// An iterator over the spans of a set, as they were when it was made.
    public struct Iterator: IteratorProtocol, Sendable {
        private let table: SpanTable
        private var index: SpanTable.Index

        fileprivate init(_ table: SpanTable) {
            self.table = table
            index = table.startIndex
        }

        /// Returns the next span, or `nil` after the last.
        public mutating func next() -> Range<Int64>? {
            guard let span = table.span(at: index) else { return nil }
            index = table.index(after: index)
            return span
        }
    }

    /// Returns an iterator over the spans in ascending order.
    ///
    /// No span is empty, and between two spans there is always at least one missing position.
    public func makeIterator() -> Iterator { Iterator(table) }

    /// The exact number of spans; O(1).
    public var underestimatedCount: Int { spanCount }
}

extension ByteRangeSet: Hashable {
    /// Returns whether both sets have the same positions; O(*n*).
    public static func == (lhs: ByteRangeSet, rhs: ByteRangeSet) -> Bool {
        lhs.spanCount == rhs.spanCount && lhs.table.byteTotal == rhs.table.byteTotal && lhs.elementsEqual(rhs)
    }

    /// Feeds the spans to `hasher`; O(*n*).
    public func hash(into hasher: inout Hasher) {
        hasher.combine(spanCount)
        for span in self { hasher.combine(span) }
    }
}

extension ByteRangeSet: ExpressibleByArrayLiteral {
    /// Creates the union of the ranges in the literal, which may overlap, touch and come in any order.
    public init(arrayLiteral ranges: Range<Int64>...) {
        self.init(ranges)
    }
}

extension ByteRangeSet: CustomStringConvertible {
    /// All spans in order, such as `[0..<100, 200..<500]`.
    public var description: String {
        "[" + map(\.description).joined(separator: ", ") + "]"
    }
}

extension ByteRangeSet: Codable {
    /// Writes the spans in ascending order as an array of `[lower, upper]` pairs, such as `[[0,100],[200,500]]`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for span in self {
            var pair = container.nestedUnkeyedContainer()
            try pair.encode(span.lowerBound)
            try pair.encode(span.upperBound)
        }
    }

    /// Reads the output of `encode(to:)`, and nothing else.
    ///
    /// Throws `DecodingError` if a pair does not have exactly two bounds in `Int64`, is empty or inverted, or does not
    /// start beyond the end of the pair before it: spans that overlap or touch were not written by this type.
    public init(from decoder: any Decoder) throws {
        self.init()
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd {
            var pair = try container.nestedUnkeyedContainer()
            let lower = try pair.decode(Int64.self)
            let upper = try pair.decode(Int64.self)
            guard pair.isAtEnd else {
                throw DecodingError.dataCorruptedError(in: pair, debugDescription: "A span has more than two bounds.")
            }
            guard lower < upper else {
                throw DecodingError.dataCorruptedError(
                    in: pair, debugDescription: "The span from \(lower) to \(upper) is empty or inverted.")
            }
            if let last = table.lastSpan, lower <= last.upperBound {
                throw DecodingError.dataCorruptedError(
                    in: pair, debugDescription: "The span from \(lower) does not start beyond \(last.upperBound).")
            }
            table.append(lower..<upper)
        }
    }
}

extension ByteRangeSet {
    /// A violation found by `checkInvariants()`.
    package struct InvariantViolation: Error, CustomStringConvertible {
        package let description: String
    }

    /// The number of chunks that hold the spans; 1 for a small or empty set.
    package var chunkCount: Int { table.chunkCount }

    /// The most spans a chunk may hold.
    package var chunkCapacity: Int { table.chunkCapacity }

    /// Throws `InvariantViolation` unless the spans are canonical, the chunks are within their limits, and the
    /// directory and both counts agree with the spans; O(*n*).
    package func checkInvariants() throws {
        try checkSpans()
        try checkChunks()
    }

    private func checkSpans() throws {
        var spans = 0
        var bytes: UInt64 = 0
        var previous: Range<Int64>?
        for span in self {
            try require(!span.isEmpty, "empty span at \(span.lowerBound)")
            if let previous {
                try require(previous.upperBound < span.lowerBound, "\(previous) and \(span) overlap or touch")
            }
            previous = span
            spans += 1
            bytes += span.length
        }
        try require(spans == table.spanCount, "\(spans) spans, counted \(table.spanCount)")
        try require(bytes == table.byteTotal, "\(bytes) bytes, counted \(table.byteTotal)")
    }

    private func checkChunks() throws {
        let chunks = table.directory.map(\.spans) + [table.tail]
        try require(chunks.count == 1 || chunks.allSatisfy { !$0.isEmpty }, "empty chunk")
        try require(chunks.allSatisfy { $0.count <= table.chunkCapacity }, "chunk too large")
        for (chunk, next) in zip(chunks, chunks.dropFirst()) {
            let isWorthKeeping = chunk.count + next.count > table.chunkCapacity / 2
            try require(isWorthKeeping, "neighbors of \(chunk.count) and \(next.count) spans not joined")
        }
        let isDirectoryRight = table.directory.allSatisfy { $0.lowerBound == $0.spans.first?.lowerBound }
        try require(isDirectoryRight, "directory out of date")
    }

    private func require(_ condition: Bool, _ violation: @autoclosure () -> String) throws {
        guard !condition else { return }
        throw InvariantViolation(description: violation())
    }
}
