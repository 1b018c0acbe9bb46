import HTTPTypes
import NIOCore
import NIOPosix
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseHTTPClient

@Suite("Back-pressure, canceling and time", .limit(minutes: 1))
struct BackPressureTests {
    private let length: Int64 = 64 << 20

    private func started(_ configure: (inout TestOrigin.Personality) -> Void = { _ in }) async throws -> TestOrigin {
        let origin = try await TestOrigin.start(sendBufferSize: 65_536)
        origin.set(.init(.pattern(seed: 1, length: length), personality: .init(configure)), at: "/a")
        origin.set(.init(.pattern(seed: 2, length: 1)), at: "/ping")
        return origin
    }

    private func matches(_ chunk: any ByteChunk, at position: Int64) -> Bool {
        let expected = TestPattern.bytes(in: position..<position + Int64(chunk.count), seed: 1)
        return chunk.withUnsafeBytes { ByteBuffer(bytes: $0) == ByteBuffer(bytes: expected) }
    }

    /// Waits until the origin sends nothing more although both event loops have had many turns.
    private func settle(_ origin: TestOrigin, _ client: NIOOrigin) async throws -> Int64 {
        var last: Int64 = -1
        var unchanged = 0
        while unchanged < 50 {
            _ = try await client.get(origin.url("/ping"), method: .head)
            let sent = await origin.settledSnapshot()["/a"].bodyBytesSent
            unchanged = sent == last ? unchanged + 1 : 0
            last = sent
        }
        return last
    }

    @Test func aConsumerThatStopsStopsTheOriginAndThenGetsEveryByte() async throws {
        let origin = try await started()
        try await withClient { client in
            let body = try await client.get(origin.url("/a")).body
            var position: Int64 = 0
            while position < 1 << 20, let chunk = try await body.next() {
                #expect(chunk is ByteBufferChunk)
                #expect(matches(chunk, at: position))
                position += Int64(chunk.count)
            }
            let sent = try await settle(origin, client)
            #expect(body.bufferedBytes <= 1 << 20)
            // 1 MiB here, and the contents of the two kernels: the send buffer and a receive buffer that has hardly
            // grown.
            #expect(sent < position + 12 << 20)
            while let chunk = try await body.next() {
                #expect(chunk.count <= 1 << 20)
                #expect(matches(chunk, at: position))
                position += Int64(chunk.count)
            }
            #expect(position == length)
        }
        await origin.stop()
    }

    @Test func theFirstPieceIsSmall() async throws {
        let origin = try await started()
        origin.set(.init(.pattern(seed: 1, length: 4 << 20)), at: "/a")
        try await withClient { client in
            for _ in 0..<2 {
                let body = try await client.get(origin.url("/a")).body
                let first = try #require(await body.next())
                #expect(first.count <= 65_536)
                #expect(matches(first, at: 0))
                while try await body.next() != nil {}
            }
        }
        await origin.stop()
    }

    @Test func aStoppedConsumerKeepsItsMemorySmallWhenTheOriginCloses() async throws {
        let group = MultiThreadedEventLoopGroup.singleton
        let total = 3 << 20
        let bytes = ByteBuffer(bytes: TestPattern.bytes(in: 0..<Int64(total), seed: 3))
        let capacity = try await ScriptedServer.run({ _, _ in [.sendBytes(bytes), .close] }) { server in
            let recorder = SocketRecorder(eventLoop: group.next())
            let channel = try await ClientBootstrap(group: recorder.eventLoop)
                .channelOption(.autoRead, value: false)
                .channelOption(.allowRemoteHalfClosure, value: true)
                .channelOption(.maxMessagesPerRead, value: 1)
                .channelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: 262_144))
                .channelOption(.socketOption(.so_rcvbuf), value: 8 << 20)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandlers(
                            SocketGate(), SocketRecorderHandler(recorder))
                    }
                }
                .connect(host: "127.0.0.1", port: server.port).get()
            let capacity = Int(try await channel.getOption(.socketOption(.so_rcvbuf)).get())
            guard capacity >= 2 * total else {
                recorder.unasked.succeed()
                try await channel.close().get()
                return capacity
            }
            try await channel.writeAndFlush(ByteBuffer(string: "GET\r\n\r\n"))
            channel.read()
            // The second piece arrives unrequested, because the server has closed; nothing may follow it.
            try await recorder.unasked.futureResult.get()
            for _ in 0..<100 { try await channel.eventLoop.submit {}.get() }
            #expect(recorder.count <= 2 * 262_144)
            while channel.isActive {
                channel.read()
                try await channel.eventLoop.submit {}.get()
            }
            #expect(recorder.bytes == bytes)
            return capacity
        }
        if capacity < 2 * total { print("skipped: the system's receive buffers are only \(capacity) bytes") }
    }

    @Test func cancelingKeepsWhatTheSystemHasReceived() async throws {
        let part = ByteBuffer(bytes: TestPattern.bytes(in: 0..<60_000, seed: 1))
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
        try await ScriptedServer.run({ _, _ in [.send(head), .sendBytes(part)] }) { server in
            try await withClient {
                $0.readAhead = 16_384
            } _: { client in
                let body = try await client.get(server.url("/")).body
                try await server.settle()
                #expect(body.bufferedBytes < 60_000, "the rest is still in the kernel")
                body.cancel()
                let bytes = try await body.bytes()
                #expect(bytes == Array(buffer: part))
                #expect(try await body.next() == nil)
                try await server.waitForClose(of: 0)
            }
        }
    }

    @Test func cancelingKeepsAtMostOneMebibyte() async throws {
        let origin = try await started()
        try await withClient { client in
            let body = try await client.get(origin.url("/a")).body
            _ = try await settle(origin, client)
            let buffered = body.bufferedBytes
            body.cancel()
            await origin.waitUntil { $0["/a"].requests.first?.outcome == .aborted }
            #expect(body.bufferedBytes > buffered)
            #expect(body.bufferedBytes <= 1 << 20)
            let bytes = try await body.bytes()
            #expect(bytes == TestPattern.bytes(in: 0..<Int64(bytes.count), seed: 1))
        }
        await origin.stop()
    }

    @Test func cancelingACompleteBodyKeepsTheConnection() async throws {
        let origin = try await started()
        try await withClient { client in
            let response = try await client.get(origin.url("/ping"))
            response.body.cancel()
            #expect(try await response.body.bytes().count == 1)
            _ = try await client.get(origin.url("/ping")).body.bytes()
            #expect(await origin.settledSnapshot().connectionsAccepted == 1)
        }
        await origin.stop()
    }

    @Test func aCanceledTaskClosesTheConnectionAndIsNotACleanEnd() async throws {
        let origin = try await started { $0.stallAfter = 100_000 }
        try await withClient { client in
            let body = try await client.get(origin.url("/a")).body
            let reader = Task {
                var count = 0
                do {
                    while let chunk = try await body.next() { count += chunk.count }
                } catch is CancellationError {
                    return count
                }
                return -1
            }
            await origin.waitUntil { $0["/a"].bodyBytesSent == 100_000 }
            reader.cancel()
            #expect(try await reader.value == 100_000)
            await origin.waitUntil { $0.openConnections == 0 }
        }
        await origin.stop()
    }

    @Test func aSendThatIsCanceledClosesTheConnection() async throws {
        let origin = try await started()
        origin.holdHeads("/a")
        try await withClient { client in
            let sending = Task { try await client.get(origin.url("/a")) }
            await origin.waitUntil { $0.requestCount >= 1 }
            sending.cancel()
            await #expect(throws: CancellationError.self) { _ = try await sending.value }
            await origin.waitUntil { $0.openConnections == 0 }
        }
        await origin.stop()
    }

    @Test func aBodyThatNobodyHoldsClosesItsConnection() async throws {
        let origin = try await started()
        try await withClient { client in
            _ = try await client.get(origin.url("/a"))
            await origin.waitUntil { $0.openConnections == 0 && $0.requestCount >= 1 }
        }
        await origin.stop()
    }

    @Test func anOriginThatDoesNotAnswerTimesOut() async throws {
        let origin = try await started()
        origin.holdHeads("/a")
        try await withClient {
            $0.responseTimeout = .milliseconds(50)
        } _: { client in
            #expect(await failureCode { try await client.get(origin.url("/a")) } == .originTimedOut)
        }
        await origin.stop()
    }

    @Test func anOriginThatStopsTimesOutOnlyWhileSomebodyWaits() async throws {
        let origin = try await started { $0.stallAfter = 100_000 }
        try await withClient {
            $0.idleTimeout = .milliseconds(500)
        } _: { client in
            let body = try await client.get(origin.url("/a")).body
            while body.bufferedBytes == 0 { _ = try await settle(origin, client) }
            // As long as this one waits in vain, the other one does nothing.
            let other = try await client.get(origin.url("/a")).body
            let waited = await failureCode { while try await other.next() != nil {} }
            #expect(waited == .originTimedOut)
            let requests = await origin.waitUntil { $0["/a"].requests.last?.outcome == .aborted }["/a"].requests
            #expect(requests.first?.outcome == .underWay)
            body.cancel()
            #expect(try await body.bytes().count == 100_000)
        }
        await origin.stop()
    }

    @Test func shuttingDownEndsWhatIsUnderWay() async throws {
        let origin = try await started { $0.stallAfter = 100_000 }
        let client = NIOOrigin()
        let body = try await client.get(origin.url("/a")).body
        await client.shutdown()
        #expect(await failureCode { try await body.bytes() } == .closed)
        #expect(await failureCode { try await client.get(origin.url("/a")) } == .closed)
        await origin.stop()
    }
}
