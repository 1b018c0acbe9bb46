package import Reprise

/// Makes the text that is sent in place of a body.
package protocol BodyEditor: Sendable {
    /// Length of the largest body that is gathered, in bytes; a larger one is sent as the origin sent it.
    var maximumLength: Int { get }

    /// Whether ``accepts(_:)`` decides, because nothing else tells what the body is.
    ///
    /// Only for stored responses: a look at another one would cost a request.
    var looksFirst: Bool { get }

    /// Whether a body with this beginning and metadata is edited.
    ///
    /// Asked with the first 4,096 bytes, or with all bytes of a shorter body, and only if ``looksFirst`` is true.
    func accepts(_ beginning: [UInt8], of information: ContentInformation) -> Bool

    /// The text to send, with a tag of its own; `nil` to send the body as the origin sent it.
    ///
    /// Throws `RepriseError`, which is answered as an error of the read would be, or `CancellationError`.
    func edit(_ body: GatheredBody) async throws -> [UInt8]?
}
