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
