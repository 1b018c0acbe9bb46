import HTTPSemantics

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
