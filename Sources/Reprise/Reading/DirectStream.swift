import Locks

/// A body on its way past the store, cut to the wanted range.
///
/// One consumer.
final class DirectStream: Sendable {
    private let body: any OriginBody
    private let from: Int64
    private let to: Int64?
    private let expectedEnd: Int64?
    private let journal: Journal
    /// Offset of the next byte that the body will give.
    ///
    /// A lock only because classes need one: there is one consumer.
    private let position: Mutex<Int64>

    /// `start` is where the body begins; bytes before `from` are dropped, those from `to` on are not read.
    init(_ response: OriginResponse, start: Int64, from: Int64, to: Int64?, expectedEnd: Int64?, journal: Journal) {
        body = response.body
        self.from = from
        self.to = to
        self.expectedEnd = expectedEnd
        self.journal = journal
        position = Mutex(start)
    }

    /// The next bytes; `nil` at the end of the range or the body.
    func next() async throws -> (any ByteChunk)? {
        while true {
            if let to, position.withLock({ $0 }) >= to {
                body.cancel()
                return nil
            }
            guard let chunk = try await body.next() else {
                let reached = position.withLock { $0 }
                // A part that is shorter than asked for is no end of what was promised to the reader.
                if reached < max(expectedEnd ?? 0, to ?? 0), !Task.isCancelled {
                    throw RepriseError(.originBodyTruncated, "The origin ended the body after \(reached) bytes.")
                }
                return nil
            }
            journal.count { $0.bytesFetched += Int64(chunk.count) }
            let start = position.withLock { position in
                defer { position += Int64(chunk.count) }
                return position
            }
            let lower = min(max(from - start, 0), Int64(chunk.count))
            let upper = min(max((to ?? .max) - start, lower), Int64(chunk.count))
            guard lower < upper else { continue }
            if upper - lower == chunk.count { return chunk }
            return ChunkSlice(base: chunk, range: Int(lower)..<Int(upper))
        }
    }

    func cancel() { body.cancel() }
}

/// Part of another chunk, not copied.
struct ChunkSlice: ByteChunk {
    let base: any ByteChunk
    let range: Range<Int>

    var count: Int { range.count }

    func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try base.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }
}
