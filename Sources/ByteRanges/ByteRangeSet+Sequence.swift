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
