package import Reprise

/// Makes the text that is sent in place of a body.
package protocol BodyEditor: Sendable {
    /// Length of the largest body that is gathered, in bytes; a larger one is edited in pieces, or sent as the origin
    /// sent it.
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

    /// What edits a body that is too large to be gathered and begins with `beginning`.
    ///
    /// `nil` if it is sent as the origin sent it.
    func pieceEditor(_ beginning: [UInt8], of body: GatheredBody) -> (any PieceEditor)?
}

/// Edits a body piece by piece.
package protocol PieceEditor: Sendable {
    /// The text in place of the next bytes, as far as they decide it.
    mutating func edit(_ bytes: [UInt8]) -> [UInt8]

    /// The rest of the text.
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
