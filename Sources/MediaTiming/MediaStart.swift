package import ByteRanges

/// The bytes with which a player plays the first seconds of a file.
package struct MediaStart: Hashable, Sendable {
    /// How the bytes were found.
    package enum Basis: String, Hashable, Sendable {
        /// By the file's tables or its frames: they end with the last sample of these seconds.
        case exact
        /// By a table with one place for many seconds: they end with the place behind these seconds.
        case coarseTable
        /// By the average of what was looked at, with a margin.
        case average
        /// By length × seconds ÷ duration, with a margin.
        case proportion
        /// The first MiB, because the format or its state tells no more.
        case firstBytes
    }

    /// Headers and samples, with holes of at most 4 KiB closed; never empty unless the file is.
    package let ranges: ByteRangeSet
    /// What the file is.
    package let format: MediaFormat
    /// How the bytes were found; for other values than `exact`, the caller tells that the seconds are estimated.
    package let basis: Basis
    /// Where many players look for the duration or for tags before they start; not part of `ranges`.
    package let tail: Range<Int64>?

    /// Without a table, an estimate is a tenth larger, and by this many bytes.
    static let margin: Int64 = 64 << 10
    /// What is taken where nothing else is known.
    static let unknownLength: Int64 = 1 << 20

    init(_ ranges: ByteRangeSet, of format: MediaFormat, basis: Basis, length: Int64?) {
        let file = ByteRangeSet(0..<(length ?? MediaBytes.largestPosition))
        self.ranges = ranges.closingHoles(upTo: 4 << 10).intersection(file)
        (self.format, self.basis) = (format, basis)
        tail = length.flatMap { length in
            let size: Int64? =
                switch format {
                // ID3v1, behind the footer of an APE tag.
                case .mpegAudio: 128 + 32
                // The largest page.
                case .ogg: 64 << 10
                case .transportStream: 256 << 10
                default: nil
                }
            return size.map { max(0, length - $0)..<length }
        }
    }

    /// The first bytes of a file of which nothing is known.
    init(unknownOf length: Int64?) {
        self.init(ByteRangeSet(0..<Self.unknownLength), of: .unknown, basis: .firstBytes, length: length)
    }
}

extension ByteRangeSet {
    /// The same without short holes between the spans, and with at most 512 spans.
    package func closingHoles(upTo length: Int64) -> ByteRangeSet {
        var (result, length) = (self, length)
        repeat {
            var joined: [Range<Int64>] = []
            for span in result {
                if let last = joined.last, span.lowerBound - last.upperBound <= length {
                    joined[joined.count - 1] = last.lowerBound..<span.upperBound
                } else {
                    joined.append(span)
                }
            }
            result = ByteRangeSet(joined)
            length *= 2
        } while result.spanCount > 512
        return result
    }
}
