extension ByteRangeSet: Codable {
    /// Writes the spans in ascending order as an array of `[lower, upper]` pairs, such as `[[0,100],[200,500]]`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        for span in self {
            var pair = container.nestedUnkeyedContainer()
            try pair.encode(span.lowerBound)
            try pair.encode(span.upperBound)
        }
    }

    /// Reads the output of `encode(to:)`, and nothing else.
    ///
    /// Throws `DecodingError` if a pair does not have exactly two bounds in `Int64`, is empty or inverted, or does not
    /// start beyond the end of the pair before it: spans that overlap or touch were not written by this type.
    public init(from decoder: any Decoder) throws {
        self.init()
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd {
            var pair = try container.nestedUnkeyedContainer()
            let lower = try pair.decode(Int64.self)
            let upper = try pair.decode(Int64.self)
            guard pair.isAtEnd else {
                throw DecodingError.dataCorruptedError(in: pair, debugDescription: "A span has more than two bounds.")
            }
            guard lower < upper else {
                throw DecodingError.dataCorruptedError(
                    in: pair, debugDescription: "The span from \(lower) to \(upper) is empty or inverted.")
            }
            if let last = table.lastSpan, lower <= last.upperBound {
                throw DecodingError.dataCorruptedError(
                    in: pair, debugDescription: "The span from \(lower) does not start beyond \(last.upperBound).")
            }
            table.append(lower..<upper)
        }
    }
}
