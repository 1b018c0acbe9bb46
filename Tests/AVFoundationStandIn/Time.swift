/// A point in time or a duration of media; CoreMedia provides it on Apple's systems.
public struct CMTime: Sendable {
    /// Number of fractions of a second.
    public var value: Int64
    /// Number of fractions per second; 0 for a non-numeric time.
    public var timescale: Int32

    /// Creates a time.
    public init(value: Int64, timescale: Int32) {
        self.value = value
        self.timescale = timescale
    }

    /// Creates a time, rounded to the timescale.
    public init(seconds: Double, preferredTimescale: Int32) {
        self.init(value: Int64((seconds * Double(preferredTimescale)).rounded()), timescale: preferredTimescale)
    }

    /// No time.
    public static let zero = CMTime(value: 0, timescale: 1)
    /// An unknown time.
    public static let indefinite = CMTime(value: 0, timescale: 0)

    /// Whether the time is numeric.
    public var isNumeric: Bool { timescale > 0 }
    /// The time in seconds; not-a-number if it is not numeric.
    public var seconds: Double { isNumeric ? Double(value) / Double(timescale) : .nan }
}
