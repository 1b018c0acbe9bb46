import HTTPSemantics
import HTTPTypes
import Reprise

/// A text that is sent in place of a body: a representation of its own, with its own length and tag.
struct EditedText {
    let bytes: [UInt8]
    /// The metadata of the original, where they hold for the text.
    let information: ContentInformation

    /// Fields that describe the bytes of the original.
    private static let ofTheOriginal = Set(
        [
            "Content-Digest", "Content-MD5", "Content-Range", "Digest", "ETag", "Last-Modified", "Repr-Digest",
        ].compactMap { HTTPField.Name($0) })

    init(_ bytes: [UInt8], inPlaceOf original: ContentInformation) {
        self.bytes = bytes
        var information = original
        information.completeLength = Int64(bytes.count)
        information.rangesSupported = true
        // Only the tag: the text may change without the original, and then no date tells (RFC 9110 §8.8.2).
        information.validators = Validators(etag: Self.tag(of: bytes))
        information.fields = Self.fields(inPlaceOf: information.fields)
        self.information = information
    }

    /// The fields of the original, where they hold for the text.
    static func fields(inPlaceOf original: HTTPFields) -> HTTPFields {
        original.filter { !ofTheOriginal.contains($0.name) }
    }

    /// A strong tag: the same for the same bytes, whichever proxy made them.
    private static func tag(of bytes: [UInt8]) -> EntityTag? {
        let checksum = bytes.withUnsafeBytes { XXHash64.checksum(of: $0) }
        return EntityTag(opaqueTag: "reprise-text-\(String(checksum, radix: 16))")
    }
}
