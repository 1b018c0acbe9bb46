/// Bytes that a ``MediaTimer`` must see before it can go on.
package struct MediaNeed: Hashable, Sendable {
    /// The bytes to bring; not empty, at most ``TimingLimits/largestWindow`` unless a table is read as a whole.
    package let window: Range<Int64>
    /// Bytes around the window that belong to the result, as far as is known.
    ///
    /// One request can bring them all; the timer only has to receive the window.
    package let extent: Range<Int64>
    /// Whether there is a result without these bytes, for which ``MediaTimer/comesInOrder`` is set.
    package let isOptional: Bool

    /// Creates a need; the extent grows to contain the window.
    init(window: Range<Int64>, extent: Range<Int64>, isOptional: Bool = false) {
        (self.window, self.isOptional) = (window, isOptional)
        self.extent =
            min(window.lowerBound, extent.lowerBound)..<max(window.upperBound, extent.upperBound)
    }
}
