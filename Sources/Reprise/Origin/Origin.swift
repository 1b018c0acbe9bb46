/// The source of media: an HTTP client behind one method.
///
/// The engine requests a representation or a part of it and pulls the body. An implementation follows redirects (at
/// most twenty) and verifies TLS. It reads from its socket only while the body is being pulled, so that back-pressure
/// reaches the network.
public protocol Origin: Sendable {
    /// Sends `request` and returns as soon as the head of the final response has arrived.
    ///
    /// Canceling the task closes the connection. Throws ``RepriseError`` with one of the `origin…` codes, or
    /// `CancellationError`. A response is returned whatever its status, never thrown.
    func send(_ request: OriginRequest) async throws -> OriginResponse
}
