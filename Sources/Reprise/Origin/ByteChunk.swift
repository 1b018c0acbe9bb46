/// Immutable bytes in memory, independent of their owner: a piece of a response body in transit.
///
/// The engine never copies a chunk: it writes it to the file and passes it on.
public protocol ByteChunk: Sendable {
    /// Number of bytes.
    var count: Int { get }
    /// Calls `body` with the bytes; the pointer is valid only during the call.
    func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R
}

extension [UInt8]: ByteChunk {}
