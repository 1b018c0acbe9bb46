import NIOCore

/// Sizes of reads: 16 KiB at first, so that the first bytes of a stream leave at once; doubled while they fill, to 128 KiB.
///
/// The read-ahead and one such read together stay below ``ConnectionLimits/maximumBuffered``.
struct ReceiveAllocator: RecvByteBufferAllocator {
    private var adaptive = AdaptiveRecvByteBufferAllocator(minimum: 16_384, initial: 16_384, maximum: 131_072)

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
        adaptive.buffer(allocator: allocator)
    }

    /// Always says that the next buffer may be larger, and never how large.
    ///
    /// NIO then takes a new buffer for every read instead of keeping one of 128 KiB for each connection, idle ones included,
    /// from which the first read of the next stream would be served.
    mutating func record(actualReadBytes: Int) -> Bool {
        _ = adaptive.record(actualReadBytes: actualReadBytes)
        return true
    }
}
