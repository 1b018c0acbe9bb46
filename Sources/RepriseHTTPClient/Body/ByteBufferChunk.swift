public import NIOCore
public import Reprise

/// A piece of a response body as received from the network: a view of a `ByteBuffer`, never a copy.
///
/// Every chunk of a ``NIOOrigin`` body has this type, so a server on SwiftNIO can downcast it and write ``buffer`` as
/// it is.
public struct ByteBufferChunk: ByteChunk {
    /// The bytes: the buffer's readable ones.
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

extension ByteBuffer: BodyPiece {
    package var byteCount: Int { readableBytes }

    package func copied(capacity: Int) -> ByteBuffer {
        var copy = ByteBufferAllocator().buffer(capacity: max(capacity, readableBytes))
        copy.writeImmutableBuffer(self)
        return copy
    }

    package mutating func append(_ other: ByteBuffer) { writeImmutableBuffer(other) }

    package mutating func removeFirst(_ count: Int) -> ByteBuffer { readSlice(length: count) ?? ByteBuffer() }
}
