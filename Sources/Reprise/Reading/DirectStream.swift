import HTTPSemantics
import Primitives

/// A body that bypasses the store, cut to the wanted range.
///
/// One consumer.
final class DirectStream: Sendable {
    private let body: any OriginBody
    private let from: Int64
    private let to: Int64?
    /// The origin to which its bytes are counted.
    private let host: String
    private let reporter: Reporter
    /// Position of the next byte from the body.
    ///
    /// There is one consumer; the lock is only there because the type is a class.
    private let cursor: Mutex<BodyCursor>

    /// The body begins at `start` and is declared to end at `expectedEnd`; bytes before `from` are dropped, bytes from
    /// `to` on are not read.
    init(
        _ response: OriginResponse, start: Int64, from: Int64, to: Int64?, expectedEnd: Int64?, host: String,
        reporter: Reporter
    ) {
        body = response.body
        self.host = host
        self.from = from
        self.to = to
        self.reporter = reporter
        cursor = Mutex(BodyCursor(start: start, end: expectedEnd))
    }

    /// Position of the next byte that the reader gets.
    var position: Int64 { max(from, cursor.withLock { $0.position }) }

    /// The next bytes; `nil` at the end of the range or the body.
    func next() async throws -> (any ByteChunk)? {
        while true {
            if let to, cursor.withLock({ $0.position }) >= to {
                body.cancel()
                return nil
            }
            guard let chunk = try await body.next() else {
                // A canceled body ends like a complete one.
                try Task.checkCancellation()
                let cursor = cursor.withLock { $0 }
                // If the part is shorter than requested, the bytes promised to the reader are still missing.
                if cursor.isShort || cursor.position < to ?? 0 {
                    throw RepriseError(
                        .originBodyTruncated, "The origin ended the body after \(cursor.position) bytes.")
                }
                return nil
            }
            reporter.countFetched(chunk.count, from: host)
            let placed = cursor.withLock { cursor in
                Result { () throws(RepriseError) in (try cursor.advance(by: chunk.count), cursor.hasSurplus) }
            }
            let (range, hasSurplus) = try placed.get()
            if hasSurplus { body.cancel() }
            let wanted = range.clamped(to: from..<max(from, to ?? .max))
            guard !wanted.isEmpty else { continue }
            if wanted.upperBound - wanted.lowerBound == chunk.count { return chunk }
            let (lower, upper) = (wanted.lowerBound - range.lowerBound, wanted.upperBound - range.lowerBound)
            return ChunkSlice(base: chunk, range: Int(lower)..<Int(upper))
        }
    }

    func cancel() { body.cancel() }
}

/// A part of another chunk, without copying.
struct ChunkSlice: ByteChunk {
    let base: any ByteChunk
    let range: Range<Int>

    var count: Int { range.count }

    func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try base.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }
}

/// Tracks where the bytes of a body belong in the representation as they arrive.
///
/// Pure. A body may contain more bytes than its head declared; the surplus is dropped.
struct BodyCursor: Sendable {
    /// Offset of the next byte; never beyond ``end``.
    private(set) var position: Int64
    /// Offset after the last byte, as declared; `nil` if only the end of the body shows it.
    let end: Int64?
    /// Whether bytes arrived after the declared end.
    private(set) var hasSurplus = false

    init(start: Int64, end: Int64?) {
        position = start
        self.end = end
    }

    /// Whether declared bytes are missing.
    var isShort: Bool { position < end ?? 0 }

    /// Declared bytes that have not arrived; `nil` if no end is declared.
    var rest: Int64? { end.map { max($0 - position, 0) } }

    /// Advances over the next `count` bytes and returns their range; bytes beyond the declared end are not part of it.
    ///
    /// Throws `originMisbehaved` for a body of undeclared length that goes beyond 2^53.
    mutating func advance(by count: Int) throws(RepriseError) -> Range<Int64> {
        let start = position
        let room = (end ?? .largestPosition) - start
        if Int64(count) > room {
            guard end != nil else {
                throw RepriseError(.originMisbehaved, "The origin's body does not end: it has more than 2^53 bytes.")
            }
            hasSurplus = true
        }
        position += min(Int64(count), max(room, 0))
        return start..<position
    }
}
