import HTTPTypes
import Primitives
import Reprise
import TestLimits
import Testing

@testable import RepriseHTTPClient

@Suite("The NIO client and odd origins", .limit(minutes: 1))
struct OddOriginTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private func expectOK(
        _ client: NIOOrigin, _ server: ScriptedServer, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let text = try await client.get(server.url("/")).body.text()
        #expect(text == "ok", sourceLocation: sourceLocation)
    }

    @Test func interimResponsesAreSkipped() async throws {
        let hints = "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
        try await ScriptedServer.run({ _, _ in [.send(hints + Self.ok)] }) { server in
            try await withClient { client in
                let response = try await client.get(server.url("/"))
                #expect(response.head.status == .ok)
                #expect(try await response.body.text() == "ok")
            }
        }
    }

    @Test(
        "What contradicts itself is refused, with the line (RFC 9112 §6.3)",
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc", "Line 3"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "Line 2"),
            ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "Line 1"), ("SSH-2.0-OpenSSH_9.2\r\n", "Line 1"),
        ])
    func contradictionsAreRefused(_ response: String, _ words: String) async throws {
        try await ScriptedServer.run({ _, _ in [.send(response), .close] }) { server in
            try await withClient { client in
                let error = await #expect(throws: RepriseError.self) { try await client.get(server.url("/")) }
                #expect(error?.code == .originMisbehaved)
                #expect(error?.message.contains(words) == true)
            }
        }
    }

    @Test(
        "A response that only tolerant readers take is taken, and the last one on its connection",
        arguments: [
            "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2 \r\nok\r\n0\r\n\r\n",
        ])
    func tolerance(_ response: String) async throws {
        try await ScriptedServer.run({ _, _ in [.send(response)] }) { server in
            try await withClient { client in
                for _ in 0..<2 { try await expectOK(client, server) }
                #expect(server.connections == 2)
            }
        }
    }

    @Test("What is tolerated is told once for each response, of its head and of its chunks")
    func told() async throws {
        let heads = ["HTTP/1.1 200 OK\nContent-Length: 2\n\nok", Self.ok]
        let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2 \r\nok\r\n0\r\n\r\n"
        for (response, count) in [(heads[0], 1), (heads[1], 0), (chunks, 1)] {
            let told = Mutex<[String]>([])
            try await ScriptedServer.run({ _, _ in [.send(response)] }) { server in
                try await withClient { client in
                    var request = OriginRequest(url: try ResourceURL(server.url("/")))
                    request.context.onOddity = { oddity in told.withLock { $0.append(oddity) } }
                    #expect(try await client.send(request).body.text() == "ok")
                }
            }
            #expect(told.withLock { $0.count } == count, "\(response)")
        }
    }

    @Test("A SHOUTcast server's ICY 200 OK is a response of HTTP/1.0")
    func aShoutcastServer() async throws {
        let response = "ICY 200 OK\r\nicy-name:x\r\ncontent-type:audio/mpeg\r\n\r\nok"
        try await ScriptedServer.run({ _, _ in [.send(response), .close] }) { server in
            try await withClient { client in
                let response = try await client.get(server.url("/"))
                #expect(response.head.status == .ok && response.head.headerFields[.contentType] == "audio/mpeg")
                #expect(try await response.body.text() == "ok")
            }
        }
    }

    @Test func theSecondOfTwoConsumersOfABodyGetsAnError() async throws {
        try await ScriptedServer.run({ _, _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")] }) { server in
            try await withClient { client in
                let body = try await client.get(server.url("/")).body
                await withTaskGroup(of: RepriseError.Code?.self) { group in
                    for _ in 0..<2 { group.addTask { await failureCode { try await body.next() } } }
                    // Nothing has arrived: the first one waits, whichever it is.
                    #expect(await group.next() == .some(.invalidArgument))
                    try? await server.send("ok", on: 0)
                    #expect(await group.next() == .some(nil))
                }
            }
        }
    }

    @Test("Bytes after a complete response are not taken for the next response (RFC 9112 §6.3)")
    func surplusOfOneResponseDoesNotFailTheNextRequest() async throws {
        // As if the surplus had been in transit when the connection was reused.
        let script: ScriptedServer.Script = { connection, request in
            [.send(connection == 0 && request == 1 ? ".........." : Self.ok)]
        }
        try await ScriptedServer.run(script) { server in
            try await withClient { client in
                try await expectOK(client, server)
                try await expectOK(client, server)
                #expect(server.connections == 2)
            }
        }
    }

    @Test func aBrokenChunkEndsTheBodyWithAnErrorAfterTheGoodBytes() async throws {
        let response = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\nzz\r\n"
        try await ScriptedServer.run({ _, _ in [.send(response)] }) { server in
            try await withClient { client in
                let body = try await client.get(server.url("/")).body
                #expect(try await body.next().map { $0.withUnsafeBytes { Array($0) } } == Array("ab".utf8))
                #expect(await failureCode { try await body.next() } == .originMisbehaved)
            }
        }
    }

    @Test func aChunkedBodyWithoutItsLastChunkIsTruncated() async throws {
        let response = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"
        try await ScriptedServer.run({ _, _ in [.send(response), .close] }) { server in
            try await withClient { client in
                #expect(
                    await failureCode { try await client.get(server.url("/")).body.bytes() } == .originBodyTruncated)
            }
        }
    }

    @Test func chunksOfOneByteAreJoined() async throws {
        let chunks = String(repeating: "1\r\nx\r\n", count: 20_000)
        let response = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n"
        try await ScriptedServer.run({ _, _ in [.send(response)] }) { server in
            try await withClient { client in
                let body = try await client.get(server.url("/")).body
                var pieces = 0
                var bytes = 0
                while let chunk = try await body.next() {
                    pieces += 1
                    bytes += chunk.count
                }
                #expect(bytes == 20_000)
                #expect(pieces < 200)
            }
        }
    }

    @Test func aRedirectWithoutLocationIsHandedBack() async throws {
        try await ScriptedServer.run({ _, _ in [.send("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n")] }) { server in
            try await withClient { client in
                let response = try await client.get(server.url("/"))
                #expect(response.head.status == .found)
                #expect(try await response.body.next() == nil)
            }
        }
    }

    @Test func aKeptConnectionThatDiesIsReplacedOnce() async throws {
        try await ScriptedServer.run({ connection, request in
            connection == 0 && request == 1 ? [.close] : [.send(Self.ok)]
        }) { server in
            try await withClient { client in
                for _ in 0..<3 { try await expectOK(client, server) }
                #expect(server.connections == 2)
                #expect(server.requests.count == 4)
            }
        }
    }

    @Test func aKeptConnectionThatIsResetIsReplacedOnce() async throws {
        try await ScriptedServer.run({ connection, request in
            connection == 0 && request == 0 ? [.send(Self.ok)] : [.reset]
        }) { server in
            try await withClient { client in
                try await expectOK(client, server)
                #expect(await failureCode { try await client.get(server.url("/")) } == .originUnreachable)
                #expect(server.requests.count == 3)
            }
        }
    }

    @Test func aKeptConnectionThatDiesInTheHeadIsNotReplaced() async throws {
        try await ScriptedServer.run({ _, request in
            request == 0 ? [.send(Self.ok)] : [.send("HTTP/1.1 20"), .close]
        }) { server in
            try await withClient { client in
                try await expectOK(client, server)
                #expect(await failureCode { try await client.get(server.url("/")) } == .originUnreachable)
                #expect(server.requests.count == 2)
            }
        }
    }

    @Test func aConnectionThatTheOriginClosedWhileIdleIsNotMissed() async throws {
        try await ScriptedServer.run({ _, _ in [.send(Self.ok)] }) { server in
            try await withClient { client in
                try await expectOK(client, server)
                try await server.close(0)
                try await expectOK(client, server)
                #expect(server.connections == 2)
            }
        }
    }

    @Test func anIdleConnectionIsClosedAfterItsTime() async throws {
        try await ScriptedServer.run({ _, _ in [.send(Self.ok)] }) { server in
            try await withClient {
                $0.idleConnectionLifetime = .milliseconds(20)
            } _: { client in
                try await expectOK(client, server)
                try await server.waitForClose(of: 0)
            }
        }
    }

    @Test func aConnectionThatCarriedTooMuchIsNotUsedAgain() async throws {
        try await ScriptedServer.run({ _, _ in [.send(Self.ok + "surplus\r\n\r\n")] }) { server in
            try await withClient { client in
                for _ in 0..<2 { try await expectOK(client, server) }
                #expect(server.connections == 2)
            }
        }
    }

    @Test(
        "Connection: close and HTTP/1.0 end the connection (RFC 9112 §9.3)",
        arguments: [
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
            "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        ])
    func connectionCloseEndsTheConnection(_ response: String) async throws {
        try await ScriptedServer.run({ _, _ in [.send(response)] }) { server in
            try await withClient { client in
                for _ in 0..<2 { try await expectOK(client, server) }
                #expect(server.connections == 2)
            }
        }
    }

    @Test func theTargetGoesOutAsItIsSpelled() async throws {
        try await ScriptedServer.run({ _, _ in [.send(Self.ok)] }) { server in
            try await withClient { client in
                _ = try await client.get(server.url("/a/../b%2F?x=%7E&y='*'")).body.bytes()
                let lines = server.requests.first?.split(separator: "\r\n").map(String.init)
                #expect(
                    lines?.dropLast(lines?.last == "" ? 1 : 0) == [
                        "GET /a/../b%2F?x=%7E&y='*' HTTP/1.1", "Host: 127.0.0.1:\(server.port)",
                        "User-Agent: reprise/\(Build.version)", "Accept-Encoding: identity",
                    ])
            }
        }
    }

    @Test func aRefusedConnectionMeansUnreachableAndSaysWhere() async throws {
        let port = try await ScriptedServer.run({ _, _ in [] }) { $0.port }
        try await withClient { client in
            do {
                _ = try await client.get("http://127.0.0.1:\(port)/a?token=secret")
                Issue.record("nothing listens there")
            } catch let error as RepriseError {
                #expect(error.code == .originUnreachable)
                #expect(error.message.contains("127.0.0.1:\(port)"))
                #expect(!"\(error)".contains("secret"))
            }
        }
    }

    @Test func aNameThatDoesNotExistIsNotFound() async throws {
        try await withClient { client in
            #expect(await failureCode { try await client.get("http://reprise-test.invalid/") } == .originNotFound)
        }
    }

    @Test func anOriginThatDoesNotNegotiateTimesOut() async throws {
        try await ScriptedServer.run({ _, _ in [] }) { server in
            try await withClient {
                $0.connectTimeout = .milliseconds(50)
            } _: { client in
                let url = "https://127.0.0.1:\(server.port)/"
                #expect(await failureCode { try await client.get(url) } == .originTimedOut)
                // On a busy machine the time may be over before the connection is made.
                try await server.waitForCloses()
            }
        }
    }

    @Test("No connection reveals whether a port inside is open", arguments: ["127.0.0.1", "localhost", "[::1]"])
    func privateAddressesAreRefusedBeforeTheConnection(_ host: String) async throws {
        try await ScriptedServer.run({ _, _ in [.send(Self.ok)] }) { server in
            try await withClient {
                $0.forbidsPrivateAddresses = true
            } _: { client in
                for port in [server.port, 1] {
                    #expect(await failureCode { try await client.get("http://\(host):\(port)/") } == .originForbidden)
                }
                try await server.settle()
                #expect(server.connections == 0)
            }
        }
    }

    @Test func hostsAreCheckedAtEveryHop() async throws {
        try await ScriptedServer.run({ _, _ in
            [.send("HTTP/1.1 302 Found\r\nLocation: http://localhost:1/\r\nContent-Length: 0\r\n\r\n")]
        }) { server in
            try await withClient {
                $0.allowsHost = { $0 == "127.0.0.1" }
            } _: { client in
                #expect(await failureCode { try await client.get(server.url("/")) } == .originForbidden)
                #expect(server.requests.count == 1)
                #expect(await failureCode { try await client.get("http://localhost:1/") } == .originForbidden)
            }
        }
    }
}
