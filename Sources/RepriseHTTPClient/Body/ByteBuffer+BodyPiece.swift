package import NIOCore
import Reprise

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
