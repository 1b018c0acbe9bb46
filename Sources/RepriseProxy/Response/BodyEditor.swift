import HTTPSemantics
import HTTPTypes
package import Reprise

/// Decides which bodies are replaced by a text that is made from them, such as a playlist whose links have to lead back
/// to the proxy.
///
/// Stored bytes stay those of the origin; the text is made for each request.
package protocol BodyFilter: Sendable {
    /// The editor of a response from `url` with this metadata; `nil` if its body is sent as the origin sent it.
    ///
    /// Must be quick and must not block: hits ask on the event loop, on each connection until there is no editor.
    func editor(of information: ContentInformation, at url: ResourceURL) -> (any BodyEditor)?

    /// Called before a coded body is sent as it came, because no editor could read it.
    func noteCoded(_ information: ContentInformation, at url: ResourceURL)
}

extension BodyFilter {
    package func noteCoded(_ information: ContentInformation, at url: ResourceURL) {}

    /// The editor of a response; `nil` also for a coded body, which no editor could read.
    func editorOfText(_ information: ContentInformation, at url: ResourceURL) -> (any BodyEditor)? {
        information.contentCoding == nil ? editor(of: information, at: url) : nil
    }
}

/// The filter that sends every body as the origin sent it.
package struct PassThrough: BodyFilter {
    package init() {}

    package func editor(of information: ContentInformation, at url: ResourceURL) -> (any BodyEditor)? { nil }
}

/// Makes the text that is sent in place of a body.
package protocol BodyEditor: Sendable {
    /// Maximum length of a body to gather in memory, in bytes.
    ///
    /// A larger body is edited piece by piece, or sent unedited.
    var maximumLength: Int { get }

    /// Whether ``accepts(_:of:)`` decides, because nothing else tells what the body is.
    var looksFirst: Bool { get }

    /// Whether a body with this beginning and metadata is edited; `nil` if more of it decides.
    ///
    /// Asked with all bytes received so far, up to some 4,096, and only if ``looksFirst`` is true. A body that ends
    /// undecided is not edited.
    func accepts(_ beginning: [UInt8], of information: ContentInformation) -> Bool?

    /// The text for `body`, whose bytes have not been gathered, if it is known from an earlier request.
    func known(_ body: GatheredBody) -> [UInt8]?

    /// The text to send, with a tag of its own; `nil` to send the body as the origin sent it.
    ///
    /// Throws ``UneditedBody`` to send it so and say why, `RepriseError`, which is answered as an error of the read
    /// would be, or `CancellationError`.
    func edit(_ body: GatheredBody) async throws -> [UInt8]?

    /// Returns an editor for a body that begins with `beginning` and is too large to gather.
    ///
    /// `nil` if the body must be sent unedited.
    func pieceEditor(_ beginning: [UInt8], of body: GatheredBody) -> (any PieceEditor)?
}

/// Edits a body piece by piece.
package protocol PieceEditor: Sendable {
    /// Adds the next bytes of the body, and returns the edited text that is complete so far.
    mutating func edit(_ bytes: [UInt8]) -> [UInt8]

    /// Ends the body, and returns the rest of the edited text.
    mutating func finish() -> [UInt8]
}

extension BodyEditor {
    package func pieceEditor(_ beginning: [UInt8], of body: GatheredBody) -> (any PieceEditor)? { nil }

    package func known(_ body: GatheredBody) -> [UInt8]? { nil }
}

/// Why a body is sent as the origin sent it, although it is one that an editor is for.
package struct UneditedBody: Error {
    /// A few words for `Cache-Status`.
    package let reason: String

    package init(reason: String) { self.reason = reason }
}

/// The complete body of a representation, and what an editor needs in order to change its links.
package struct GatheredBody: Sendable {
    package var bytes: [UInt8]
    /// The metadata of the representation.
    package let information: ContentInformation
    /// The file that was requested.
    package let resource: MediaResource
    /// How many removals of titles came before the read; now if it is `nil` (``MediaRead/removedTitleCount``).
    package var removedTitleCount: Int?
    /// The requested URL.
    package var url: ResourceURL { resource.url }
    /// The URL that answered after redirects, to which relative links refer.
    package var base: ResourceURL { information.finalURL ?? url }
    /// What the client's request targets have before `/https/host/path`: a slash and the token, or nothing.
    ///
    /// A link that begins with it leads back to this proxy, under whatever name the client knows it.
    package let prefix: String
    /// The name and port by which the client knows the proxy, for links that must be absolute; `nil` if it gave none.
    package let host: String?
    /// The scheme of the proxy's own address, for the same links.
    package var scheme = "http"
    /// Whether the origin must not be asked, or could not be reached.
    package var isWithoutOrigin = false
    /// Whether its host could not be reached a moment ago, although this body can be used without asking it.
    package var isHostAway = false
    /// Who asked for it; `nil` in a cache of one user.
    var requester: Requester?
    /// Whether every request is answered with it, so that what it says counts for all.
    var isForEveryone = true
}

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
