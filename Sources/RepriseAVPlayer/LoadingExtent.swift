/// The bytes that a loading request wants, as AVFoundation says it.
struct LoadingExtent: Sendable, Equatable {
    /// First byte.
    var offset: Int64
    /// Number of bytes; `Int.max` where AVFoundation does not know the length yet.
    var length: Int
    /// Whether everything up to the end is wanted; then ``length`` says nothing.
    var reachesEnd: Bool

    /// The bytes that exist of it in a resource of `completeLength` bytes; empty at and beyond its end.
    ///
    /// Saturates: an offset plus `Int.max` must not trap.
    func clipped(to completeLength: Int64) -> Range<Int64> {
        let start = min(max(offset, 0), completeLength)
        guard !reachesEnd else { return start..<completeLength }
        let (end, overflow) = start.addingReportingOverflow(Int64(max(length, 0)))
        return start..<min(overflow ? .max : end, completeLength)
    }
}
