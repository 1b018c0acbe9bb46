/// A response body with back-pressure: bytes are read from the network only when requested.
///
/// One consumer calls ``next()``, one call at a time; ``cancel()`` may be called from anywhere. If ``next()`` is called
/// while another call is waiting, the clients of this package throw `invalidArgument`.
public protocol OriginBody: AnyObject, Sendable {
    /// The next piece, or `nil` at the clean end of the body: declared length reached, last chunk, or after
    /// ``cancel()``.
    ///
    /// Throws ``RepriseError`` with code `originBodyTruncated` when the connection ended early, `originTimedOut` when
    /// nothing arrived for the client's idle time. After the task is canceled, returns the pieces that have arrived,
    /// then throws `CancellationError`. Pieces are at most 1 MiB.
    func next() async throws -> (any ByteChunk)?

    /// Ends the transfer; ``next()`` returns the bytes that the system has already received, then `nil`.
    func cancel()
}
