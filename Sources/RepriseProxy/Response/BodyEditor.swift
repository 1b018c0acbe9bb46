package import Reprise

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
