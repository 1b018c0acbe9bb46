/// How much a ``MediaTimer`` looks at; beyond it the result is an estimate.
package struct TimingLimits: Hashable, Sendable {
    /// Maximum number of windows; 1,024 by default.
    package var windows = 1024
    /// Maximum size of all windows together, in bytes; 32 MiB by default.
    package var bytesSeen: Int64 = 32 << 20
    /// Maximum size of the bytes in memory, in bytes; 8 MiB by default.
    package var bytesHeld = 8 << 20
    /// Size of the first windows, in bytes; 16 KiB by default.
    package var smallestWindow: Int64 = 16 << 10
    /// Size of the largest windows, in bytes; 256 KiB by default.
    package var largestWindow: Int64 = 256 << 10
    /// Up to this size a table is one window, in bytes; 1 MiB by default.
    package var wholeTable: Int64 = 1 << 20
    /// Maximum number of samples, table entries, frames and elements that are counted; 1,000,000 by default.
    package var steps = 1_000_000

    /// Creates the default limits.
    package init() {}
}
