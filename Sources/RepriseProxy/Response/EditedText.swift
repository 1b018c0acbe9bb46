import HTTPSemantics
import HTTPTypes
import Reprise

/// A text that is sent in place of a body: a representation of its own, with its own length and tag.
struct EditedText {
    let text: HeldBytes
    /// The metadata of the original, where they hold for the text.
    let information: ContentInformation

    /// Fields that describe the bytes of the original.
    private static let ofTheOriginal = Set(
        [
            "Content-Digest", "Content-MD5", "Content-Range", "Digest", "ETag", "Last-Modified", "Repr-Digest",
        ].compactMap { HTTPField.Name($0) })

    init(_ text: HeldBytes, inPlaceOf original: ContentInformation) {
        self.text = text
        var information = original
        information.completeLength = Int64(text.bytes.count)
        information.rangesSupported = true
        // Only the tag: the text may change without the original, and then no date tells (RFC 9110 §8.8.2).
        information.validators = Validators(etag: Self.tag(of: text))
        information.fields = Self.fields(inPlaceOf: information.fields)
        self.information = information
    }

    /// The metadata of a text that is sent while it is edited, without a tag and a length.
    static func information(inPlaceOf original: ContentInformation) -> ContentInformation {
        var information = original
        (information.completeLength, information.rangesSupported, information.isMedia) = (nil, false, false)
        information.validators = Validators()
        information.fields = fields(inPlaceOf: information.fields)
        return information
    }

    /// The fields of the original, where they hold for the text.
    static func fields(inPlaceOf original: HTTPFields) -> HTTPFields {
        original.filter { !ofTheOriginal.contains($0.name) }
    }

    /// A strong tag: the same for the same bytes, whichever proxy made them.
    private static func tag(of text: HeldBytes) -> EntityTag? {
        EntityTag(opaqueTag: "reprise-text-\(String(text.checksum, radix: 16))")
    }
}
