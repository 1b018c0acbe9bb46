/// The bytes requested by a loading request, in AVFoundation's terms.
struct LoadingExtent: Sendable, Equatable {
    /// First byte.
    var offset: Int64
    /// Number of bytes; `Int.max` if AVFoundation does not know the length yet.
    var length: Int
    /// Whether everything up to the end is requested; ``length`` then has no meaning.
    var reachesEnd: Bool

    /// The part of it that exists in a resource of `completeLength` bytes; empty at and beyond the end.
    ///
    /// Saturates, because an offset plus `Int.max` must not trap.
    func clipped(to completeLength: Int64) -> Range<Int64> {
        let start = min(max(offset, 0), completeLength)
        guard !reachesEnd else { return start..<completeLength }
        let (end, overflow) = start.addingReportingOverflow(Int64(max(length, 0)))
        return start..<min(overflow ? .max : end, completeLength)
    }
}
