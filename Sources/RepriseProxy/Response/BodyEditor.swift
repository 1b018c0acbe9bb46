/// Makes the text that is sent in place of a body.
package protocol BodyEditor: Sendable {
    /// Length of the largest body that is gathered, in bytes; a larger one is sent as the origin sent it.
    var maximumLength: Int { get }

    /// Whether a body with this beginning is edited.
    ///
    /// Asked once, with at least the first 64 bytes, or with all bytes of a shorter body. An editor of everything that
    /// its filter has chosen returns `true`; one that has to look into a body of no declared type decides here, before
    /// the rest is gathered.
    func accepts(_ beginning: [UInt8]) -> Bool

    /// The text to send; `nil` to send the body as the origin sent it.
    ///
    /// Throws `RepriseError`, which is answered as an error of the read would be, or `CancellationError`.
    func edit(_ body: GatheredBody) async throws -> [UInt8]?
}
