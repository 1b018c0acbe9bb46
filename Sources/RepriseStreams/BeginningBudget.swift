import Playlists
import Reprise

/// How many segments of one track a preload takes, counted as they play.
struct BeginningBudget {
    private let amount: PreloadAmount
    private var seconds = 0.0
    private var bytes: Int64 = 0
    private var segments = 0

    init(_ amount: PreloadAmount) { self.amount = amount }

    /// Whether no further segment is needed.
    var isSpent: Bool {
        switch amount {
        case .bytes(let count): bytes >= count
        case .seconds(let goal): seconds >= goal
        case .segments(let count): segments >= count
        case .range, .all: false
        }
    }

    /// What of the seconds is left for a file without segments, in seconds; `nil` if all of it is wanted.
    var rest: Double? {
        switch amount {
        case .seconds(let goal): goal - seconds
        case .segments(let count): Double(count - segments) * PreloadAmount.secondsPerSegment
        case .bytes, .range, .all: nil
        }
    }

    /// Takes a segment of `duration` seconds, of which the first `skipped` do not play; `bitRate` is in bits per
    /// second.
    ///
    /// A segment of unknown length is enough for any number of bytes.
    mutating func take(_ extent: ByteExtent, duration: Double, skipped: Double = 0, bitRate: Int64?) {
        segments += 1
        seconds += max(0, duration - skipped)
        let count: Int64?
        switch extent {
        case .range(let range): count = range.upperBound - range.lowerBound
        case .unplaced(let length): count = length
        case .whole, .from: count = bitRate.map { Int64(min(Double($0) / 8 * max(0, duration), 1e15)) }
        }
        bytes = count.map { bytes + min($0, 1 << 52) } ?? .max
    }

    /// Takes seconds of which nothing is fetched, such as those of a segment that its origin does not have.
    mutating func pass(_ duration: Double) { seconds += max(0, duration) }
}
