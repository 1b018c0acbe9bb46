/// How much of a resource to store before it is played.
public enum PreloadAmount: Sendable, Hashable {
    /// The first bytes, up to this many; fewer if the file is shorter.
    ///
    /// Of a stream, segments of about as many bytes, by what its playlists say of their bit rate.
    case bytes(Int64)
    /// What the first seconds of playback need.
    ///
    /// Of a file, the bytes that its tables or frames say, at both of its ends; where they tell too little, an estimate
    /// with a margin (``CacheEvent/preloadEstimated(_:reason:)``). Of a stream, the playlists, initialization sections,
    /// keys and first segments of what players begin with.
    case seconds(Double)
    /// The first segments of a stream, of each rendition that plays; of a file, six seconds for each.
    case segments(Int)
    /// A half-open range of bytes; of a playlist, a range of its text.
    case range(Range<Int64>)
    /// Everything; of a stream, everything of what players begin with.
    case all

    /// What ``MediaCache/preload(_:current:amount:)`` stores by default: ten seconds of the next one, five of the one
    /// behind it, three of the three that follow, and nothing else.
    public static func atDistance(_ distance: Int) -> PreloadAmount? {
        switch distance {
        case 1: .seconds(10)
        case 2: .seconds(5)
        case 3...5: .seconds(3)
        default: nil
        }
    }

    /// What a segment stands for in a file, in seconds: the usual length of segments.
    package static let secondsPerSegment = 6.0

    /// Whether there is nothing to store.
    var isNothing: Bool {
        switch self {
        case .bytes(let count): count <= 0
        case .seconds(let seconds): !(seconds > 0)
        case .segments(let count): count <= 0
        case .range(let range): range.isEmpty
        case .all: false
        }
    }
}
