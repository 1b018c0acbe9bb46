import NIOCore
import Reprise

/// The consumer's end of a ``ResponseStream``; when it is released, the transfer ends.
final class ResponseBody: OriginBody {
    let stream: ResponseStream

    init(_ stream: ResponseStream) {
        self.stream = stream
    }

    deinit {
        stream.abandon()
    }

    func next() async throws -> (any ByteChunk)? {
        try await stream.next().map(ByteBufferChunk.init)
    }

    func cancel() {
        stream.cancel(byTask: false)
    }

    /// Reads and discards the body, so that its connection can be reused; stops after `limit` bytes.
    ///
    /// A body that ends with its connection is not worth reading.
    func discard(upTo limit: Int) async {
        if stream.framing.isWorthDiscarding(limit: limit) {
            var total = 0
            while total <= limit, let piece = try? await stream.next() { total += piece.readableBytes }
        }
        stream.abandon()
    }
}
