import ByteRanges

/// Which transfers a hole needs.
enum TransferPlan {
    /// Most bytes of one transfer, 64 MiB: what has come of a transfer counts only when all of it has, and each one is
    /// on disk twice for a moment.
    static let largestTransfer: Int64 = 64 << 20

    /// The ranges to ask for, so that with those that are `underWay` or have come all of `hole` comes, and nothing
    /// twice; in order, none longer than `largest`.
    static func transfers(
        for hole: Range<Int64>, underWay: [Range<Int64>], largest: Int64 = largestTransfer
    ) -> [Range<Int64>] {
        var known = ByteRangeSet()
        for range in underWay { known.insert(range) }
        return known.holes(in: hole).flatMap { hole in
            stride(from: hole.lowerBound, to: hole.upperBound, by: Int64.Stride(largest)).map {
                $0..<min($0 + largest, hole.upperBound)
            }
        }
    }
}
