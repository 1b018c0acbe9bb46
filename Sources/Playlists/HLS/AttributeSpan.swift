/// An attribute of an HLS tag, and where it stands.
package struct AttributeSpan: Hashable, Sendable {
    /// `NAME=value`, quotation marks included.
    package let whole: Range<Int>
    /// The name.
    package let name: Range<Int>
    /// The value, without quotation marks.
    package let value: Range<Int>
    /// Whether the value is a quoted string.
    package let isQuoted: Bool
}
