/// A resource that is stored because it may be played soon, as ``Preloads`` knows it.
public struct Preload: Sendable, Identifiable {
    /// What a preload does.
    public enum State: Sendable {
        /// Its turn has not come: others run, or one of its host does.
        case queued
        /// Bytes are being fetched, or looked up on disk.
        case running
        /// What was wanted was stored. If it is removed, it is fetched again when a list is set that has it; if it is
        /// evicted, at the earliest after 30 seconds.
        case done
        /// It ended with an error; bytes that had arrived are stored. It is tried again when a list is set that has it,
        /// at the earliest after 30 seconds; at once with another URL, other fields or another network policy, unless
        /// the origin cannot be reached or is busy.
        case failed(RepriseError)
    }

    /// The key of its entry; of a stream, that of the outermost playlist.
    public let key: CacheKey
    /// The URL that is asked for it.
    public let url: ResourceURL
    /// How much of it is wanted.
    public let amount: PreloadAmount
    /// What it does.
    public let state: State

    /// The key: there is one preload for each.
    public var id: CacheKey { key }
}

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

/// The text that the index has.
extension PreloadAmount {
    var recorded: String {
        switch self {
        case .bytes(let count): "bytes \(count)"
        case .seconds(let seconds): "seconds \(seconds)"
        case .segments(let count): "segments \(count)"
        case .range(let range): "range \(range.lowerBound) \(range.upperBound)"
        case .all: "all"
        }
    }

    /// `nil` for any other text.
    init?(recorded text: String) {
        let words = text.split(separator: " ").map(String.init)
        switch (words.first, words.count) {
        case ("all", 1): self = .all
        case ("bytes", 2): if let count = Int64(words[1]) { self = .bytes(count) } else { return nil }
        case ("seconds", 2):
            guard let seconds = Double(words[1]), seconds.isFinite else { return nil }
            self = .seconds(seconds)
        case ("segments", 2): if let count = Int(words[1]) { self = .segments(count) } else { return nil }
        case ("range", 3):
            guard let lower = Int64(words[1]), let upper = Int64(words[2]), lower <= upper else { return nil }
            self = .range(lower..<upper)
        default: return nil
        }
    }
}
