/// What an HLS playlist takes from outside of its text.
package struct HLSContext: Hashable, Sendable {
    /// The URL that the playlist came from, after redirects; `QUERYPARAM` reads its query (rfc8216bis §4.4.2.3).
    package var url: URIReference?
    /// Variables of the multivariant playlist through which this one was loaded; `nil` if none is known.
    package var imported: Variables?

    /// Creates a context.
    package init(url: URIReference? = nil, imported: Variables? = nil) {
        (self.url, self.imported) = (url, imported)
    }
}
