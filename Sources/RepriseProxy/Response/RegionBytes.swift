import NIOCore
import Reprise

extension ProxyService {
    /// The bytes of `region`, read on a thread that may block.
    ///
    /// Throws as ``StoredRegion/bytes()`` does.
    func read(_ region: StoredRegion) async throws -> ByteBuffer {
        try await DiskQueue.shared.run {
            var buffer = ByteBuffer()
            buffer.reserveCapacity(region.count)
            try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: region.count) { room in
                try region.read(into: UnsafeMutableRawBufferPointer(rebasing: room[..<region.count]))
                return region.count
            }
            return buffer
        }
    }
}
