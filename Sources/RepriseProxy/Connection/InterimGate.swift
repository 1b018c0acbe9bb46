import HTTPSemantics
import HTTPTypes
import Primitives
import NIOCore

/// Passes interim responses (1xx) on to the client as they arrive (RFC 9110 §15.2), until the final head is written.
///
/// After that, a fetch caused by this request must not write between the bytes of its body.
final class InterimGate: Sendable {
    private let isOpen: Mutex<Bool>
    private let channel: any Channel

    /// `isOpen` is false for HTTP/1.0 clients, which do not know interim responses.
    init(_ channel: any Channel, isOpen: Bool) {
        self.channel = channel
        self.isOpen = Mutex(isOpen)
    }

    func pass(_ response: HTTPResponse) {
        var buffer = ByteBuffer()
        buffer.writeStatusLine(response.status.code)
        var fields = response.headerFields.endToEnd.handedOn(to: .player)
        fields[.setCookie] = nil
        for field in fields { buffer.writeField(field) }
        buffer.writeStaticString("\r\n")
        // Under the lock, so that the head cannot overtake it.
        isOpen.withLock { isOpen in
            if isOpen { channel.writeAndFlush(IOData.byteBuffer(buffer), promise: nil) }
        }
    }

    func close() { isOpen.withLock { $0 = false } }
}
