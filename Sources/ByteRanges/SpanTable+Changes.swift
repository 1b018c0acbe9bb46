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
