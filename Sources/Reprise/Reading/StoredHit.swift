/// The beginning of a response of which every byte is stored and verified.
package struct StoredHit: Sendable {
    /// The first bytes.
    package let region: StoredRegion
    /// The range of the whole response.
    package let range: Range<Int64>
    /// The metadata of the representation.
    package let information: ContentInformation
}
