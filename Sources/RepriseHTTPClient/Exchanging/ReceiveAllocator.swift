import NIOCore

/// Sizes of reads: 16 KiB at first, so that the first bytes of a stream leave immediately; doubled while reads fill
/// them, up to 128 KiB.
///
/// The read-ahead and one such read together stay below ``ConnectionLimits/maximumBuffered``.
struct ReceiveAllocator: RecvByteBufferAllocator {
    private var adaptive = AdaptiveRecvByteBufferAllocator(minimum: 16_384, initial: 16_384, maximum: 131_072)

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
        adaptive.buffer(allocator: allocator)
    }

    /// Always reports that the next buffer may be larger, without saying how large.
    ///
    /// NIO then allocates a new buffer for every read. Otherwise it would keep one of 128 KiB for each connection, idle
    /// ones included, and use it for the first read of the next stream.
    mutating func record(actualReadBytes: Int) -> Bool {
        _ = adaptive.record(actualReadBytes: actualReadBytes)
        return true
    }
}
