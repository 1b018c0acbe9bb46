public import ByteRanges

/// How much of a resource is on disk, for a buffer bar or a download mark.
public struct StoredProgress: Sendable, Equatable {
    /// The stored bytes.
    public var ranges = ByteRangeSet()
    /// Complete length in bytes; `nil` while unknown.
    public var completeLength: Int64?
    /// The counts of the whole cache since it was opened, ``CacheStatistics/bytesSaved`` among them.
    public var statistics = CacheStatistics()

    /// Creates the progress of a resource of which nothing is stored.
    public init() {}

    /// Whether every byte is stored.
    public var isComplete: Bool { completeLength.map { ranges.contains(0..<$0) } ?? false }

    /// The stored fraction of the whole, 0 to 1; 0 while the length is unknown.
    public var fraction: Double {
        guard let completeLength, completeLength > 0 else { return 0 }
        return min(Double(ranges.byteCount) / Double(completeLength), 1)
    }

    /// The stored ranges as fractions of the whole, ascending, each within 0...1; empty while the length is unknown.
    public var fractions: [ClosedRange<Double>] {
        guard let completeLength, completeLength > 0 else { return [] }
        let whole = Double(completeLength)
        return ranges.map { min(Double($0.lowerBound) / whole, 1)...min(Double($0.upperBound) / whole, 1) }
    }
}
