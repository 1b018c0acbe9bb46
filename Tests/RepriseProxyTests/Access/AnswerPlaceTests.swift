import Logging
import NIOCore
import NIOEmbedded
import Primitives
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// When the place of an answer is free for the client's next request.
@Suite(.limit(minutes: 1)) struct AnswerPlaceTests {
    /// What is asked for.
    struct Case: Sendable, CustomTestStringConvertible {
        let length: Int64
        var isStored = true
        var usesSendfile = true
        var framing = TestOrigin.Personality.Framing.contentLength
        var rate: Int64?
        var method = "GET"
        var range: String?

        var testDescription: String {
            "\(method) of \(length) \(isStored ? "stored" : "missing") bytes, \(framing)"
                + (usesSendfile ? "" : ", without sendfile") + (rate.map { ", \($0) a second" } ?? "")
                + (range.map { ", \($0)" } ?? "")
        }
    }

    static let cases = [
        Case(length: 10), Case(length: 3 << 20), Case(length: 3 << 20, usesSendfile: false),
        Case(length: 300_000, isStored: false), Case(length: 300_000, isStored: false, framing: .chunked),
        Case(length: 300_000, rate: 1 << 30), Case(length: 10, method: "HEAD"),
        Case(length: 300_000, range: "bytes=0-9,100000-199999"), Case(length: 300_000, range: "bytes=100000-"),
    ]

    /// Notes at each flush how many bytes it completes, and whether a place is free then.
    private final class FlushWatch: ChannelOutboundHandler, Sendable {
        typealias OutboundIn = IOData

        private let holder: TokenHolder
        private let state = Mutex((written: 0, flushes: [(bytes: Int, isFree: Bool)]()))

        init(_ holder: TokenHolder) { self.holder = holder }

        var flushes: [(bytes: Int, isFree: Bool)] { state.withLock { $0.flushes } }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            state.withLock { $0.written += unwrapOutboundIn(data).readableBytes }
            context.write(data, promise: promise)
        }

        func flush(context: ChannelHandlerContext) {
            var isFree = false
            if case .taken(let place) = holder.takePlace() {
                isFree = true
                place.giveBack()
            }
            state.withLock { $0.flushes.append(($0.written, isFree)) }
            context.flush()
        }
    }

    private static func configuration(_ item: Case) -> ProxyConfiguration {
        var configuration = ProxyConfiguration()
        configuration.logger.logLevel = .critical
        configuration.usesSendfile = item.usesSendfile
        configuration.tokens = [
            AccessToken("annas-token", name: "anna", mayControl: false, mostAnswers: 1, rate: item.rate)
        ]
        return configuration
    }

    private static func holder(_ service: ProxyService) throws -> TokenHolder {
        var parser = RequestParser()
        parser.append(ByteBuffer(string: "GET /annas-token HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        var head = try #require(try parser.next())
        _ = service.tokens?.current.identify(&head)
        return try #require(head.sender?.holder)
    }

    /// Whether what was written is a whole answer.
    private static func isWhole(_ text: [UInt8], _ item: Case) -> Bool {
        guard let end = text.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else { return false }
        if item.method == "HEAD" { return true }
        let head = String(decoding: text[..<end], as: UTF8.self)
        guard let length = head.firstMatch(of: /Content-Length: (\d+)/).flatMap({ Int($0.1) }) else {
            return text.suffix(7).elementsEqual("\r\n0\r\n\r\n".utf8)
        }
        return text.count == end + length
    }

    @Test("it is free before the end of the answer can be seen, and not before the rest was sent", arguments: cases)
    func place(_ item: Case) async throws {
        try await ProxyBench.run { proxy async throws in
            proxy.bench.publish("/a", length: item.length) { $0.framing = item.framing }
            if item.isStored { _ = try await proxy.bench.bytes("/a") }
            let service = try ProxyService(cache: proxy.bench.cache, configuration: Self.configuration(item))
            let watch = FlushWatch(try Self.holder(service))
            let channel = NIOAsyncTestingChannel()
            try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1))
            let loop = channel.testingEventLoop
            try await loop.executeInContext {
                let handler = ConnectionHandler(service: service, watch: service.watch(on: loop), entrance: .port)
                try channel.pipeline.syncOperations.addHandlers([watch, handler])
            }
            let range = item.range.map { "Range: \($0)\r\n" } ?? ""
            let line = "\(item.method) /annas-token\(proxy.target("/a")) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            try await channel.writeInbound(ByteBuffer(string: "\(line)\(range)\r\n"))
            var all: [UInt8] = []
            while !Self.isWhole(all, item) {
                switch try await channel.waitForOutboundWrite(as: IOData.self) {
                case .byteBuffer(let buffer): all += buffer.readableBytesView
                case .fileRegion(let region):
                    all += TestPattern.bytes(in: Int64(region.readerIndex)..<Int64(region.endIndex), seed: 1)
                }
            }
            let flushes = watch.flushes
            let last = try #require(flushes.firstIndex { $0.bytes >= all.count })
            #expect(flushes[last].isFree)
            #expect(flushes[..<last].allSatisfy { $0.bytes == 0 || !$0.isFree }, "\(flushes)")
            try await channel.close()
            await service.endAnswers()
        }
    }
}
