/// Ascending spans in chunks: the storage of `ByteRangeSet`, which decides what to join and cut.
///
/// ```
/// directory   0 ─► [0..<5, 8..<90, …]      9_000 ─► [9_000..<9_100, …]
/// tail        [20_000..<20_500, …]
/// ```
///
/// A search looks in the directory, then in one chunk; a change moves spans within one chunk. The last chunk is
/// separate, so a set of a few spans is a single array, and growth at the end needs no search. The tail is empty only
/// if the table is. Two neighboring chunks always hold more than half of a chunk's capacity between them, so the number
/// of chunks is bounded by the number of spans.
struct SpanTable: Sendable {
    /// A chunk before the tail.
    struct Chunk {
        /// The start of the first span, kept here so that a search need not visit the spans of every chunk it compares.
        var lowerBound: Int64
        var spans: [Range<Int64>]
    }

    /// Where a span is: its chunk, counted with the tail, and its place in there.
    struct Index: Equatable {
        var chunk: Int
        var offset: Int
    }

    /// Measured with a million spans: the speed is the same from 256 to 512; half as much lengthens the directory, and
    /// twice as much lengthens the moves within a chunk.
    static let defaultChunkCapacity = 512

    var directory: [Chunk] = []
    var tail: [Range<Int64>] = []
    var spanCount = 0
    /// The exact sum of all lengths; the widest possible set, `Int64.min..<Int64.max`, just fits.
    var byteTotal: UInt64 = 0
    let chunkCapacity: Int

    init(chunkCapacity: Int = defaultChunkCapacity) {
        self.chunkCapacity = chunkCapacity
    }

    var chunkCount: Int { directory.count + 1 }
    var firstSpan: Range<Int64>? { directory.first?.spans.first ?? tail.first }
    var lastSpan: Range<Int64>? { tail.last }
    var startIndex: Index { Index(chunk: 0, offset: 0) }

    func spanCount(inChunk chunk: Int) -> Int {
        chunk < directory.count ? directory[chunk].spans.count : tail.count
    }

    subscript(index: Index) -> Range<Int64> {
        index.chunk < directory.count ? directory[index.chunk].spans[index.offset] : tail[index.offset]
    }

    /// The span at `index`, or `nil` beyond the last.
    func span(at index: Index) -> Range<Int64>? {
        if index.chunk < directory.count { return directory[index.chunk].spans[index.offset] }
        return index.offset < tail.count ? tail[index.offset] : nil
    }

    func index(after index: Index) -> Index {
        let next = Index(chunk: index.chunk, offset: index.offset + 1)
        guard next.chunk < directory.count, next.offset == directory[next.chunk].spans.count else { return next }
        return Index(chunk: next.chunk + 1, offset: 0)
    }

    /// The index of the first span that ends beyond `position`, or the one beyond the last span.
    func firstIndex(endingAfter position: Int64) -> Index {
        let chunk = chunk(startingAtOrBefore: position)
        if chunk == directory.count {
            return Index(chunk: chunk, offset: tail.partitionPoint { $0.upperBound > position })
        }
        let offset = directory[chunk].spans.partitionPoint { $0.upperBound > position }
        // The next chunk starts beyond `position`, so it ends beyond it too.
        return offset < directory[chunk].spans.count
            ? Index(chunk: chunk, offset: offset) : Index(chunk: chunk + 1, offset: 0)
    }

    /// The index of the first span that ends at or beyond `position`, or the one beyond the last span.
    func firstIndex(endingAtOrAfter position: Int64) -> Index {
        // No span ends at `Int64.min`, so there the two questions have the same answer.
        firstIndex(endingAfter: position == .min ? position : position - 1)
    }

    /// The index of the last span that starts at or before `position`; there must be one.
    func lastIndex(startingAtOrBefore position: Int64) -> Index {
        let chunk = chunk(startingAtOrBefore: position)
        let end =
            chunk < directory.count
            ? directory[chunk].spans.partitionPoint { $0.lowerBound > position }
            : tail.partitionPoint { $0.lowerBound > position }
        precondition(end > 0, "No span starts at or before \(position).")
        return Index(chunk: chunk, offset: end - 1)
    }

    /// The last chunk that starts at or before `position`, or the first chunk if all start later.
    private func chunk(startingAtOrBefore position: Int64) -> Int {
        guard !directory.isEmpty else { return 0 }
        if let first = tail.first, first.lowerBound <= position { return directory.count }
        return max(0, directory.partitionPoint { $0.lowerBound > position } - 1)
    }
}

extension Range<Int64> {
    /// The number of positions; `Int64` cannot hold that of `Int64.min..<Int64.max`.
    var length: UInt64 { UInt64(bitPattern: upperBound &- lowerBound) }
}

extension Array {
    /// The index of the first element for which `isBeyond` is true; it must be false before and true from there on.
    @inline(__always)
    fileprivate func partitionPoint(_ isBeyond: (Element) -> Bool) -> Int {
        var low = 0
        var count = count
        while count > 0 {
            let half = count / 2
            if isBeyond(self[low + half]) {
                count = half
            } else {
                low += half + 1
                count -= half + 1
            }
        }
        return low
    }
}

// Every change keeps the order and the limits of the chunks. The caller ensures that spans stay apart.
extension SpanTable {
    /// Adds a span beyond the last one.
    mutating func append(_ span: Range<Int64>) {
        if tail.count == chunkCapacity {
            // Ascending growth leaves full chunks behind, not halves.
            directory.append(Chunk(lowerBound: tail[0].lowerBound, spans: tail))
            tail = []
        }
        tail.append(span)
        count(span)
    }

    /// Moves the end of the last span up; there must be one.
    mutating func extendLastSpan(to upperBound: Int64) {
        let last = tail[tail.count - 1]
        tail[tail.count - 1] = last.lowerBound..<upperBound
        byteTotal += (last.upperBound..<upperBound).length
    }

    /// Puts a span before the one at `index`.
    mutating func insert(_ span: Range<Int64>, at index: Index) {
        changeChunk(index.chunk) { $0.insert(span, at: index.offset) }
        count(span)
        settle(index.chunk)
    }

    /// Replaces the spans from `first` through `last`, both included, by at most two spans.
    mutating func replace(_ first: Index, through last: Index, with spans: some Collection<Range<Int64>>) {
        if first.chunk == last.chunk {
            let offsets = first.offset..<last.offset + 1
            uncount(first.chunk, at: offsets)
            changeChunk(first.chunk) { $0.replaceSubrange(offsets, with: spans) }
        } else {
            let kept = first.offset..<spanCount(inChunk: first.chunk)
            uncount(first.chunk, at: kept)
            uncount(last.chunk, at: 0..<last.offset + 1)
            changeChunk(first.chunk) { $0.replaceSubrange(kept, with: spans) }
            changeChunk(last.chunk) { $0.removeSubrange(0..<last.offset + 1) }
            let between = first.chunk + 1..<last.chunk
            for chunk in between { uncount(chunk, at: 0..<directory[chunk].spans.count) }
            directory.removeSubrange(between)
        }
        for span in spans { count(span) }
        settle(first.chunk)
    }

    private mutating func count(_ span: Range<Int64>) {
        spanCount += 1
        byteTotal += span.length
    }

    private mutating func uncount(_ chunk: Int, at offsets: Range<Int>) {
        spanCount -= offsets.count
        for offset in offsets { byteTotal -= self[Index(chunk: chunk, offset: offset)].length }
    }

    private mutating func changeChunk(_ chunk: Int, _ body: (inout [Range<Int64>]) -> Void) {
        if chunk < directory.count {
            body(&directory[chunk].spans)
        } else {
            body(&tail)
        }
    }
}

// MARK: - Chunk limits

extension SpanTable {
    /// Restores the limits and the directory after a change in `chunk`, and maybe at the start of the one after it.
    private mutating func settle(_ chunk: Int) {
        updateLowerBound(of: chunk)
        updateLowerBound(of: chunk + 1)
        if spanCount(inChunk: chunk) > chunkCapacity { split(chunk) }
        // From right to left, so that a chunk that has just grown is tried again with its left neighbor.
        for left in stride(from: min(chunk + 1, directory.count - 1), through: max(chunk - 1, 0), by: -1) {
            joinIfSmall(left)
        }
    }

    private mutating func updateLowerBound(of chunk: Int) {
        guard chunk < directory.count, let first = directory[chunk].spans.first else { return }
        directory[chunk].lowerBound = first.lowerBound
    }

    private mutating func split(_ chunk: Int) {
        let middle = spanCount(inChunk: chunk) / 2
        if chunk == directory.count {
            directory.append(Chunk(lowerBound: tail[0].lowerBound, spans: Array(tail[..<middle])))
            tail.removeSubrange(..<middle)
        } else {
            let upper = Array(directory[chunk].spans[middle...])
            directory[chunk].spans.removeSubrange(middle...)
            directory.insert(Chunk(lowerBound: upper[0].lowerBound, spans: upper), at: chunk + 1)
        }
    }

    /// Joins the chunk `left` of the directory with its right neighbor if together they fill at most half a chunk, or
    /// if one is empty.
    private mutating func joinIfSmall(_ left: Int) {
        let leftCount = directory[left].spans.count
        let rightCount = spanCount(inChunk: left + 1)
        guard leftCount + rightCount <= chunkCapacity / 2 || leftCount == 0 || rightCount == 0 else { return }
        if left + 1 == directory.count {
            tail.insert(contentsOf: directory.removeLast().spans, at: 0)
        } else {
            directory[left].spans += directory.remove(at: left + 1).spans
            updateLowerBound(of: left)
        }
    }
}
