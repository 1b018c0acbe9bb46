import Logging
import NIOCore
import NIOEmbedded
import Reprise
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Requests that are not complete, or wait for their turn: all connections together hold so many bytes.
@Suite("Memory of requests", .limit(minutes: 1)) struct RequestMemoryTests {
    /// Connections on one loop.
    private struct Site {
        let loop = NIOAsyncTestingEventLoop()
        let service: ProxyService

        init(_ cache: MediaCache, _ configure: (inout ProxyConfiguration) -> Void) throws {
            var configuration = ProxyConfiguration()
            configuration.logger.logLevel = .critical
            configuration.threads = 1
            configure(&configuration)
            service = try ProxyService(cache: cache, configuration: configuration)
        }

        func connect() async throws -> NIOAsyncTestingChannel {
            let channel = NIOAsyncTestingChannel(loop: loop)
            try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1))
            let (service, loop) = (service, loop)
            try await loop.executeInContext {
                let handler = ConnectionHandler(service: service, watch: service.watch(on: loop), entrance: .port)
                try channel.pipeline.syncOperations.addHandler(handler)
                channel.pipeline.fireChannelActive()
            }
            return channel
        }

        var held: Int {
            get async throws {
                let (service, loop) = (service, loop)
                return try await loop.executeInContext { service.watch(on: loop).heldBytes }
            }
        }
    }

    private static func run(
        _ configure: (inout ProxyConfiguration) -> Void, _ body: (Site) async throws -> Void
    ) async throws {
        let cache = MediaCache.withoutStore(origin: CannedOrigin { _ in .init(status: 200) })
        try await body(try Site(cache, configure))
        await cache.close()
    }

    /// The status that a connection has answered; `nil` for none.
    private static func status(_ channel: NIOAsyncTestingChannel) async throws -> Int? {
        guard case .byteBuffer(let buffer) = try await channel.readOutbound(as: IOData.self) else { return nil }
        return String(decoding: buffer.readableBytesView, as: UTF8.self).split(separator: " ").dropFirst().first
            .flatMap { Int($0) }
    }

    private static func unfinished(_ count: Int) -> ByteBuffer {
        ByteBuffer(string: "GET /x HTTP/1.1\r\nX: " + String(repeating: "a", count: count))
    }

    @Test("a head that was refused takes no memory while the client keeps the connection open")
    func refusedHead() async throws {
        try await Self.run({ _ in }) { site async throws in
            let channel = try await site.connect()
            try await channel.writeInbound(Self.unfinished(70_000))
            #expect(try await Self.status(channel) == 431)
            #expect(try await site.held == 0)
        }
    }

    @Test("the longest unfinished heads are answered 431 when all together are too long (RFC 6585 §5)")
    func heads() async throws {
        try await Self.run({ $0.mostRequestBytes = 100_000 }) { site async throws in
            var channels: [NIOAsyncTestingChannel] = []
            let small = try await site.connect()
            try await small.writeInbound(Self.unfinished(100))
            for _ in 0..<40 {
                let channel = try await site.connect()
                try await channel.writeInbound(Self.unfinished(20_000))
                channels.append(channel)
                #expect(try await site.held <= 100_000)
            }
            var statuses: [Int?] = []
            for channel in channels { statuses.append(try await Self.status(channel)) }
            #expect(statuses.contains(431) && statuses.contains(nil))
            #expect(statuses.allSatisfy { $0 == nil || $0 == 431 })
            #expect(try await Self.status(small) == nil)
            // It goes on as if nothing had happened.
            try await small.writeInbound(ByteBuffer(string: "\r\nHost: localhost\r\n\r\n"))
            let status = try #require(try await Self.status(small))
            #expect(status != 431)
            for channel in channels + [small] { try? await channel.close() }
            #expect(try await site.held == 0)
        }
    }

    @Test("bodies that are being received count", arguments: ["Content-Length: 1000000", "Transfer-Encoding: chunked"])
    func bodies(framing: String) async throws {
        try await Self.run({ $0.mostRequestBytes = 500_000 }) { site async throws in
            var channels: [NIOAsyncTestingChannel] = []
            for _ in 0..<10 {
                let channel = try await site.connect()
                let start = framing.contains("chunked") ? "F0000\r\n" : ""
                try await channel.writeInbound(
                    ByteBuffer(string: "POST /http/h/x HTTP/1.1\r\nHost: localhost\r\n\(framing)\r\n\r\n\(start)"))
                try await channel.writeInbound(ByteBuffer(repeating: 0x61, count: 200_000))
                channels.append(channel)
                #expect(try await site.held <= 500_000)
            }
            var statuses: [Int?] = []
            for channel in channels { statuses.append(try await Self.status(channel)) }
            #expect(statuses.contains(503))
            for channel in channels { try? await channel.close() }
            #expect(try await site.held == 0)
        }
    }

    @Test("without a token a head is 32 KiB at most, and 64 KiB after a right one")
    func strangers() async throws {
        try await Self.run({ $0.token = "secret-token" }) { site async throws in
            let long = "X: " + String(repeating: "a", count: 40_000)
            let stranger = try await site.connect()
            try await stranger.writeInbound(ByteBuffer(string: "GET /secret-token/ HTTP/1.1\r\n\(long)"))
            #expect(try await Self.status(stranger) == 431)
            let known = try await site.connect()
            try await known.writeInbound(ByteBuffer(string: "GET /secret-token/ HTTP/1.1\r\nHost: a\r\n\r\n"))
            #expect(try await Self.status(known) == 200)
            try await known.writeInbound(
                ByteBuffer(string: "GET /secret-token/ HTTP/1.1\r\nHost: a\r\n\(long)\r\n\r\n"))
            #expect(try await Self.status(known) == 200)
            for channel in [stranger, known] { try? await channel.close() }
        }
    }

    @Test("a long target is forgotten before any connection is closed")
    func targets() async throws {
        try await Self.run({ $0.mostRequestBytes = 100_000 }) { site async throws in
            var channels: [NIOAsyncTestingChannel] = []
            for number in 0..<20 {
                let channel = try await site.connect()
                let target = "/http/h/\(number)" + String(repeating: "b", count: 4000)
                try await channel.writeInbound(
                    ByteBuffer(string: "GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n"))
                channels.append(channel)
                #expect(try await site.held <= 100_000)
            }
            for channel in channels {
                #expect(channel.isActive)
                try? await channel.close()
            }
            await site.service.endAnswers()
        }
    }

    @Test("memory that a short rest of a long read takes is released")
    func compaction() throws {
        var parser = RequestParser()
        var bytes = ByteBuffer(string: "GET / HTTP/1.1\r\nHost: a\r\n\r\nGET /")
        bytes.reserveCapacity(65_536)
        parser.append(bytes)
        #expect(try parser.next() != nil)
        #expect(try parser.next() == nil)
        #expect(parser.heldBytes < 4096)
        parser.append(ByteBuffer(string: " HTTP/1.1\r\nHost: a\r\n\r\n"))
        #expect(try parser.next() != nil)
        #expect(parser.heldBytes == 0)
    }

    @Test("a connection keeps a small buffer for its next read, however much it has received")
    func receiving() {
        var allocator = SocketOptions.receiveAllocator
        for _ in 0..<100 {
            let buffer = allocator.buffer(allocator: ByteBufferAllocator())
            #expect(buffer.capacity <= 8192)
            _ = allocator.record(actualReadBytes: buffer.capacity)
        }
    }

    // MARK: - The heap

    @Test func theHeapIsTrimmedWhenMuchOfItBecameFree() {
        typealias Sight = HeapUpkeep.Sight
        var rules = HeapUpkeep.Rules()
        let (mebibyte, loaded) = (1 << 20, Sight(used: 300 << 20, unused: 20 << 20, resident: 340 << 20))
        #expect(!rules.mustTrim(loaded), "the load has not fallen")
        #expect(!rules.mustTrim(Sight(used: 10 << 20, unused: 15 << 20, resident: 60 << 20)), "not worth it")
        let idle = Sight(used: 20 * mebibyte, unused: 300 * mebibyte, resident: 340 * mebibyte)
        #expect(rules.mustTrim(idle))
        rules.trimmed(Sight(used: 20 << 20, unused: 300 << 20, resident: 50 << 20))
        #expect(!rules.mustTrim(Sight(used: 20 << 20, unused: 300 << 20, resident: 55 << 20)), "it was trimmed")
        #expect(rules.mustTrim(Sight(used: 20 << 20, unused: 300 << 20, resident: 66 << 20)))
        rules.trimmed(Sight(used: 200 << 20, unused: 100 << 20, resident: 230 << 20))
        #expect(rules.mustTrim(Sight(used: 20 << 20, unused: 280 << 20, resident: 230 << 20)), "the load fell later")
    }

    @Test func theHeapIsLookedAtNowAndThen() {
        var rules = HeapUpkeep.Rules()
        let due = [0, 500, 900, 1000, 1500, 1900, 2000, 9000].map { rules.isDue(at: .milliseconds($0)) }
        #expect(due == [true, false, false, true, false, false, true, true])
    }

    #if os(Linux)
        @Test func theHeapIsSeen() throws {
            let sight = try #require(HeapUpkeep.sight())
            #expect(sight.used > 1 << 20 && sight.resident > sight.used / 2)
        }
    #endif

    // MARK: - Accepting

    @Test("connections beyond the limit are not accepted before others are closed")
    func accepting() throws {
        final class Reads: ChannelOutboundHandler {
            typealias OutboundIn = Never
            var count = 0
            func read(context: ChannelHandlerContext) { count += 1 }
        }
        let (server, reads) = (EmbeddedChannel(), Reads())
        let clients = (0..<2).map { _ in EmbeddedChannel(loop: server.embeddedEventLoop) }
        try server.pipeline.syncOperations.addHandlers([reads, AcceptGate(limit: 2)])
        try server.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let before = reads.count
        for (accepted, client) in clients.enumerated() {
            server.read()
            #expect(reads.count == before + accepted + 1)
            server.pipeline.fireChannelRead(client)
        }
        server.read()
        #expect(reads.count == before + 2, "the limit is reached")
        try clients[0].close().wait()
        server.embeddedEventLoop.run()
        #expect(reads.count == before + 3)
        _ = try? server.finish()
        _ = try? clients[1].finish()
    }
}
