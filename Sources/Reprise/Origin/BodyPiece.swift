/// Bytes of a response body in the form in which an HTTP client receives them.
package protocol BodyPiece: Sendable {
    /// Number of bytes.
    var byteCount: Int { get }
    /// The same bytes in memory of their own, with room for `capacity` bytes in all.
    func copied(capacity: Int) -> Self
    /// Adds the bytes of `other`.
    mutating func append(_ other: Self)
    /// Removes the first `count` bytes and returns them, without copying.
    mutating func removeFirst(_ count: Int) -> Self
}
