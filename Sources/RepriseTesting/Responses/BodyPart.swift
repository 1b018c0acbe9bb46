/// A piece of a response's body.
enum BodyPart: Sendable, Equatable {
    /// Bytes of the representation, by offset.
    case content(Range<Int64>)
    /// Bytes that do not belong to the representation: an error page, the frame of a multipart body, metadata.
    case literal([UInt8])
    /// This many meaningless bytes.
    case filler(Int64)

    var length: Int64 {
        switch self {
        case .content(let range): range.upperBound - range.lowerBound
        case .literal(let bytes): Int64(bytes.count)
        case .filler(let count): count
        }
    }

    /// The part from `start` on, with at most `limit` bytes.
    func slice(from start: Int64, limit: Int64) -> BodyPart {
        let count = min(limit, length - start)
        switch self {
        case .content(let range):
            let first = range.lowerBound + start
            return .content(first..<first + count)
        case .literal(let bytes):
            return .literal(Array(bytes[Int(start)..<Int(start + count)]))
        case .filler:
            return .filler(count)
        }
    }
}
