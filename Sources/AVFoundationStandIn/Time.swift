/// A moment of media, or a span of it; at Apple it comes with CoreMedia.
public struct CMTime: Sendable {
    /// Counts parts of a second.
    public var value: Int64
    /// How many of them are a second; 0 for a time that is no number.
    public var timescale: Int32

    /// Creates a time.
    public init(value: Int64, timescale: Int32) {
        self.value = value
        self.timescale = timescale
    }

    /// Creates a time, rounded to the scale.
    public init(seconds: Double, preferredTimescale: Int32) {
        self.init(value: Int64((seconds * Double(preferredTimescale)).rounded()), timescale: preferredTimescale)
    }

    /// A time that is not known.
    public static let indefinite = CMTime(value: 0, timescale: 0)

    /// Whether it is a number.
    public var isNumeric: Bool { timescale > 0 }
    /// The time in seconds, not a number if it is none.
    public var seconds: Double { isNumeric ? Double(value) / Double(timescale) : .nan }
}
