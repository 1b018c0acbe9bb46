/// Where in a playlist a link stands, which decides how a replacement is escaped.
package enum LinkContext: Hashable, Sendable {
    /// A line of an HLS playlist, or the rest of one.
    case line
    /// Between the quotation marks of an HLS attribute.
    case quotedString
    /// In an XML attribute, between marks of this byte: `"` or `'`.
    case xmlAttribute(quote: UInt8)
    /// In the text of an XML element.
    case xmlText
    /// In the text of an XML element, with CDATA sections or comments in between.
    case xmlSections
}
