import NIOConcurrencyHelpers
import NIOCore

@testable import RepriseHTTPClient

/// The bytes that passed a ``SocketGate``, for tests to examine.
final class SocketRecorder: Sendable {
    let eventLoop: any EventLoop
    /// Fulfilled when a second piece arrives after one read.
    let unasked: EventLoopPromise<Void>
    private let received = NIOLockedValueBox(ByteBuffer())

    init(eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        self.unasked = eventLoop.makePromise()
    }

    var bytes: ByteBuffer { received.withLockedValue { $0 } }
    var count: Int { bytes.readableBytes }

    func append(_ piece: ByteBuffer) {
        received.withLockedValue { _ = $0.writeImmutableBuffer(piece) }
    }
}

/// Last handler of the pipeline in tests of the gate.
final class SocketRecorderHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let recorder: SocketRecorder
    private var pieces = 0

    init(_ recorder: SocketRecorder) {
        self.recorder = recorder
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        recorder.append(unwrapInboundIn(data))
        pieces += 1
        if pieces == 2 { recorder.unasked.succeed() }
    }
}
