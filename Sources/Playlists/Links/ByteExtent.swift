/// The bytes of a resource that a playlist uses.
package enum ByteExtent: Hashable, Sendable {
    /// All of it.
    case whole
    /// These bytes; never empty, and below 2^53.
    case range(Range<Int64>)
    /// Everything from an offset on, as in a preload hint without a length.
    case from(Int64)
    /// As many bytes, but at no known place: no earlier range of the same resource precedes it (rfc8216bis §4.4.4.2).
    case unplaced(count: Int64)

    /// Creates a range if it is not empty and ends below 2^53.
    static func bytes(count: Int64, at offset: Int64) -> ByteExtent? {
        guard count > 0, count <= Number.largest, offset >= 0, offset <= Number.largest - count else { return nil }
        return .range(offset..<offset + count)
    }
}
