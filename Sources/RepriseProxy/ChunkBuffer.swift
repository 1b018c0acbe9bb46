import NIOCore
import Reprise

extension ProxyService {
    /// `chunk` as NIO wants it.
    func buffer(of chunk: any ByteChunk) -> ByteBuffer {
        chunk.withUnsafeBytes { ByteBuffer(bytes: $0) }
    }
}
