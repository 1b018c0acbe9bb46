/// Immutable bytes in memory, whoever owns them: a piece of a response body on its way.
///
/// The engine never copies one: it writes from it to the file and hands it on.
public protocol ByteChunk: Sendable {
    /// Number of bytes.
    var count: Int { get }
    /// Calls `body` with the bytes; the pointer is valid only during the call.
    func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R
}

extension [UInt8]: ByteChunk {}
