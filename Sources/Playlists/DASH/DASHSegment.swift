/// A segment of a representation, or its initialization section.
package struct DASHSegment: Hashable, Sendable {
    /// Where it is.
    package let target: LinkTarget
    /// The bytes of it.
    package let extent: ByteExtent
    /// `$Number$`.
    package let number: Int64
    /// When it begins in its period, in seconds.
    package let start: Double
    /// In seconds; `nil` if unknown.
    package let duration: Double?
}
