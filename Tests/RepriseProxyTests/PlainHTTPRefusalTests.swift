import NIOCore
import RepriseProxy
import TestLimits
import TestSupport
import Testing

/// Plain HTTP at a port that speaks TLS.
@Suite(.limit(minutes: 1)) struct PlainHTTPRefusalTests {
    /// In place of TLS: answers every read with its bytes.
    private final class Echo: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        func channelRead(context: ChannelHandlerContext, data: NIOAny) { context.writeAndFlush(data, promise: nil) }
    }

    private func run(_ body: (Int) async throws -> Void) async throws {
        try await ProxyBench.run(configureProxy: { proxy in
            proxy.encrypt = { try $0.pipeline.syncOperations.addHandler(Echo()) }
        }) { proxy async throws in try await body(proxy.server.port) }
    }

    @Test("a request is answered with 400 and closed, also while its body is sent", arguments: [0, 60_000])
    func requests(length: Int) async throws {
        try await run { port async throws in
            let client = try RawClient(port: port)
            let body = String(repeating: "x", count: length)
            try await client.send("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n" + body)
            let head = try await client.head()
            #expect(head.status == 400 && head.fields["connection"] == "close")
            let text = String(decoding: try await client.upTo(1 << 16), as: UTF8.self)
            #expect(text == "This port speaks TLS: use https://…\n")
        }
    }

    @Test("everything else goes to the handler of TLS as it came", arguments: [0x16, 0x15, 0x80, 0x00] as [UInt8])
    func records(first: UInt8) async throws {
        try await run { port async throws in
            let client = try RawClient(port: port)
            // The second read begins with a letter.
            for bytes in [[first], Array("GET".utf8)] as [[UInt8]] {
                try await client.send(bytes)
                #expect(try await client.body(bytes.count) == bytes)
            }
        }
    }
}
