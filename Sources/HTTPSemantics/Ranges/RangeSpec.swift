/// One part of a representation as requested by a client, before its length is known (RFC 9110 §14.1.2).
public enum RangeSpec: Sendable, Hashable {
    /// From the lower bound up to, not including, the upper one: `0-499` is `.bounded(0..<500)`.
    case bounded(Range<Int64>)
    /// From this offset to the end: `500-`.
    case from(Int64)
    /// The last bytes, up to this many: `-500`.
    case suffix(Int64)

    /// The bytes that the spec selects from a representation of `completeLength` bytes, or `nil` if it selects none.
    ///
    /// An end beyond the representation is clipped. A start at or beyond it, a suffix of no bytes, and any spec on an
    /// empty representation are unsatisfiable: RFC 9110 §14.1.2. (There a suffix of an empty representation counts as
    /// satisfiable, but no Content-Range could express the answer.) Negative numbers select nothing.
    public func resolve(completeLength: Int64) -> Range<Int64>? {
        switch self {
        case .bounded(let range):
            guard range.lowerBound >= 0, range.lowerBound < completeLength, !range.isEmpty else { return nil }
            return range.lowerBound..<min(range.upperBound, completeLength)
        case .from(let start):
            guard start >= 0, start < completeLength else { return nil }
            return start..<completeLength
        case .suffix(let length):
            guard length > 0, completeLength > 0 else { return nil }
            return (completeLength - min(length, completeLength))..<completeLength
        }
    }

    /// Whether the answer depends on where a representation of `completeLength` bytes ends.
    ///
    /// That is the case if the range would be refused or truncated, or if it is a suffix.
    package func dependsOnEnd(completeLength: Int64) -> Bool {
        switch self {
        case .bounded(let range): range.upperBound > completeLength
        case .from(let start): start >= completeLength
        case .suffix: true
        }
    }

    /// Whether the range starts at byte 0.
    package var beginsAtStart: Bool {
        switch self {
        case .bounded(let range): range.lowerBound == 0
        case .from(let start): start == 0
        case .suffix: false
        }
    }

    /// Whether the printed form would be valid: not empty, not negative.
    var isPrintable: Bool {
        switch self {
        case .bounded(let range): range.lowerBound >= 0 && !range.isEmpty
        case .from(let number), .suffix(let number): number >= 0
        }
    }

    /// The same spec with its numbers clipped to 2^53, which no representation exceeds; `nil` if it is empty or
    /// negative, so that no Range field can express it.
    package var clipped: RangeSpec? {
        guard isPrintable else { return nil }
        switch self {
        case .bounded(let range):
            guard range.lowerBound < .largestPosition else { return .from(.largestPosition) }
            return .bounded(range.lowerBound..<min(range.upperBound, .largestPosition))
        case .from(let start): return .from(min(start, .largestPosition))
        case .suffix(let length): return .suffix(min(length, .largestPosition))
        }
    }

    /// Reads `first-last`, `first-` or `-length`.
    ///
    /// The largest end is 2^53, exclusive; a larger last position means the same (RFC 9110 §14.1.2). A first position
    /// that large lies beyond every representation, hence `.from(1 << 53)`, which nothing satisfies.
    init?(scanning scanner: inout FieldScanner) {
        guard let first = Decimal(scanning: &scanner) else {
            guard scanner.skip("-"), let length = Decimal(scanning: &scanner) else { return nil }
            self = .suffix(length.clamped(to: .largestPosition))
            return
        }
        guard scanner.skip("-") else { return nil }
        let start = first.clamped(to: .largestPosition)
        guard let last = Decimal(scanning: &scanner) else {
            self = .from(start)
            return
        }
        guard first <= last else { return nil }
        guard start < .largestPosition else {
            self = .from(start)
            return
        }
        self = .bounded(start..<last.clamped(to: .largestPosition - 1) + 1)
    }
}

extension RangeSpec: CustomStringConvertible {
    /// The spec as it stands in a Range field, with an inclusive end.
    public var description: String {
        switch self {
        case .bounded(let range): "\(range.lowerBound)-\(range.upperBound &- 1)"
        case .from(let start): "\(start)-"
        case .suffix(let length): "-\(length)"
        }
    }
}
