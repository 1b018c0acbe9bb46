public import NIOCore
public import Reprise

/// A piece of a response body as it came from the network: a view of a `ByteBuffer`, never a copy.
///
/// Every chunk of a ``NIOOrigin`` body has this type, so that a server on SwiftNIO can downcast and write ``buffer`` as
/// it is.
public struct ByteBufferChunk: ByteChunk {
    /// The bytes: all that is readable in it.
    public let buffer: ByteBuffer

    /// Wraps the readable bytes of `buffer`.
    public init(_ buffer: ByteBuffer) {
        self.buffer = buffer
    }

    /// Number of bytes.
    public var count: Int { buffer.readableBytes }

    /// Calls `body` with the bytes; the pointer is valid only during the call.
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try buffer.withUnsafeReadableBytes(body)
    }
}
