import Logging
import NIOCore
import NIOEmbedded
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// What a connection hands to the kernel: regions of files, or bytes where `sendfile` is forbidden.
@Suite(.limit(minutes: 1)) struct SendfileTests {
    private static let length: Int64 = 3 << 20

    /// What a connection writes for a request of a film of which some bytes are stored.
    private static func written(
        _ usesSendfile: Bool, stored: Range<Int64> = 0..<length
    ) async throws -> (regions: Int, body: [UInt8], largest: Int) {
        var result = (regions: 0, body: [UInt8](), largest: 0)
        try await ProxyBench.run(configureProxy: { $0.usesSendfile = usesSendfile }) { proxy async throws in
            proxy.bench.publish("/film.mp4", length: length)
            _ = try await proxy.bench.bytes("/film.mp4", .bounded(stored))
            var configuration = ProxyConfiguration()
            configuration.logger.logLevel = .critical
            configuration.usesSendfile = usesSendfile
            let service = try ProxyService(cache: proxy.bench.cache, configuration: configuration)
            let channel = NIOAsyncTestingChannel()
            try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1))
            let loop = channel.testingEventLoop
            try await loop.executeInContext {
                let handler = ConnectionHandler(service: service, watch: service.watch(on: loop), entrance: .port)
                try channel.pipeline.syncOperations.addHandler(handler)
            }
            let request = "GET \(proxy.target("/film.mp4")) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
            try await channel.writeInbound(ByteBuffer(string: request))
            var all: [UInt8] = []
            var head: Int?
            while head.map({ Int64(all.count - $0) < length }) ?? true {
                switch try await channel.waitForOutboundWrite(as: IOData.self) {
                case .byteBuffer(let buffer):
                    all += buffer.readableBytesView
                    if head != nil { result.largest = max(result.largest, buffer.readableBytes) }
                case .fileRegion(let region):
                    result.regions += 1
                    all += TestPattern.bytes(in: Int64(region.readerIndex)..<Int64(region.endIndex), seed: 1)
                }
                if head == nil { head = endOfHead(all) }
            }
            result.body = Array(all[(head ?? 0)...])
            try await channel.close()
            await service.endAnswers()
        }
        return result
    }

    private static func endOfHead(_ bytes: [UInt8]) -> Int? {
        let end = Array("\r\n\r\n".utf8)
        return bytes.indices.first { bytes[$0...].starts(with: end) }.map { $0 + end.count }
    }

    @Test(arguments: [true, false]) func aHitIsSentWithSendfileOnlyWhereThatIsAllowed(_ usesSendfile: Bool) async throws
    {
        let written = try await Self.written(usesSendfile)
        #expect((written.regions > 0) == usesSendfile)
        let isRight = written.body == TestPattern.bytes(in: 0..<Self.length, seed: 1)
        #expect(isRight)
        #expect(written.largest <= 256 << 10, "no more than this is in memory at once")
    }

    @Test(arguments: [true, false]) func soAreStoredBytesBeforeAHole(_ usesSendfile: Bool) async throws {
        let written = try await Self.written(usesSendfile, stored: 0..<2 << 20)
        #expect((written.regions > 0) == usesSendfile)
        let isRight = written.body == TestPattern.bytes(in: 0..<Self.length, seed: 1)
        #expect(isRight)
    }
}
