import HTTPSemantics
import Primitives
import Reprise
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Origins that answer ranges in odd ways, through sockets: what plays without the proxy plays with it.
@Suite(.limit(minutes: 2)) struct OddRangeTests {
    private static let film = TestPattern.bytes(in: 0..<3_000_000, seed: 1)

    /// Answers as servers do that differ in the head only; counts its requests.
    private final class Odd: Sendable {
        private let asked = Mutex<[HostileOrigin.Request]>([])
        private let head: @Sendable (HostileOrigin.Request, Range<Int64>?) -> (status: Int, fields: [String])

        /// `head` makes the head of the answer that brings the range, or the whole for `nil`.
        init(_ head: @escaping @Sendable (HostileOrigin.Request, Range<Int64>?) -> (status: Int, fields: [String])) {
            self.head = head
        }

        var requests: [HostileOrigin.Request] { asked.withLock { $0 } }

        func answer(_ request: HostileOrigin.Request, sendsPart: (HostileOrigin.Request) -> Bool) -> [UInt8] {
            asked.withLock { $0.append(request) }
            let range = request.range?.single?.resolve(completeLength: Int64(OddRangeTests.film.count))
            let part = sendsPart(request) ? range : nil
            let (status, more) = head(request, part)
            let body =
                part.map { Array(OddRangeTests.film[Int($0.lowerBound)..<Int($0.upperBound)]) }
                ?? OddRangeTests.film
            var fields = ["HTTP/1.1 \(status) Odd", "Content-Type: video/mp4", "Content-Length: \(body.count)"] + more
            if let part {
                let length = Int64(OddRangeTests.film.count)
                fields.append("Content-Range: \(ContentRange.satisfied(part, completeLength: length))")
            }
            return Array((fields.joined(separator: "\r\n") + "\r\nConnection: close\r\n\r\n").utf8) + body
        }
    }

    private func run(
        _ odd: Odd, sendsPart: @escaping @Sendable (HostileOrigin.Request) -> Bool = { $0.range != nil },
        _ body: (Stage) async throws -> Void
    ) async throws {
        try await HostileOrigin.run {
            odd.answer($0, sendsPart: sendsPart)
        } _: { origin in
            try await ProxyBench.run { proxy async throws in
                try await body(Stage(proxy: proxy, target: origin.target("/film.mp4")))
            }
        }
    }

    private struct Stage {
        let proxy: ProxyBench
        let target: String

        func get(_ range: String?) async throws -> (head: RawClient.Head, body: [UInt8]) {
            try await RawClient.exchange(
                port: proxy.server.port, target, range.map { ["Range: bytes=\($0)"] } ?? [])
        }
    }

    @Test("a seek after bytes=0- was answered with 200 requests a range")
    func seek() async throws {
        let odd = Odd { _, part in (part == nil ? 200 : 206, ["ETag: \"1\""]) }
        try await run(odd, sendsPart: { $0.range?.single != .from(0) }) { stage async throws in
            let client = try RawClient(port: stage.proxy.server.port, receiveBufferSize: 64 << 10)
            try await client.get(stage.target, ["Range: bytes=0-"])
            #expect(try await client.head().status == 206)
            let answer = try await stage.get("2500000-2500099")
            #expect(answer.body == Array(Self.film[2_500_000..<2_500_100]))
            #expect(odd.requests.last?.range?.single == .bounded(2_500_000..<2_500_100))
            client.disconnect()
        }
    }

    @Test("a seek at an origin that drops Range beside If-Range brings a part")
    func ifRange() async throws {
        let odd = Odd { _, part in (part == nil ? 200 : 206, ["ETag: \"1\""]) }
        try await run(odd, sendsPart: { $0.range != nil && !$0.hasIfRange }) { stage async throws in
            _ = try await stage.get("0-99")
            for start in [2_000_000, 1_000_000] {
                let answer = try await stage.get("\(start)-\(start + 99)")
                #expect(answer.head.status == 206 && answer.body == Array(Self.film[start..<start + 100]))
            }
            #expect(odd.requests.map(\.hasIfRange) == [false, true, false, false])
        }
    }

    @Test("a part under status 200 reaches the client as a part, and never stands for the whole")
    func partWithoutItsStatus() async throws {
        let odd = Odd { _, _ in (200, []) }
        try await run(odd) { stage async throws in
            let part = try await stage.get("500000-599999")
            #expect(part.head.status == 206 && part.head.fields["content-range"] == "bytes 500000-599999/3000000")
            #expect(part.body == Array(Self.film[500_000..<600_000]))
            let whole = try await stage.get(nil)
            #expect(whole.head.status == 200 && whole.body == Self.film)
        }
    }

    @Test("codings that are not registered are none", arguments: ["none", "aws-chunked", "identity, utf-8", ""])
    func codings(value: String) async throws {
        let odd = Odd { _, _ in (200, ["ETag: \"1\"", "Content-Encoding: \(value)"]) }
        try await run(odd, sendsPart: { _ in false }) { stage async throws in
            for _ in 0..<2 { #expect(try await stage.get(nil).body == Self.film) }
            #expect(odd.requests.count == 1)
        }
    }

    @Test("a coded file is passed on, with one remark about its host")
    func codedFile() async throws {
        let odd = Odd { _, _ in (200, ["ETag: \"1\"", "Content-Encoding: br"]) }
        try await run(odd, sendsPart: { _ in false }) { stage async throws in
            let log = EventLog(stage.proxy.bench.cache)
            for _ in 0..<2 {
                let answer = try await stage.get(nil)
                #expect(answer.body == Self.film && answer.head.fields["content-encoding"] == "br")
            }
            await stage.proxy.bench.cache.close()
            #expect(await log.all().count { if case .hostRemarked = $0 { true } else { false } } == 1)
        }
    }

    @Test("parts are joined without Date, under an old Last-Modified")
    func noDate() async throws {
        let odd = Odd { _, part in
            (part == nil ? 200 : 206, ["Last-Modified: Mon, 03 Nov 2025 10:00:00 GMT", "Accept-Ranges: bytes"])
        }
        try await run(odd) { stage async throws in
            for start in [0, 500_000, 0, 500_000] {
                #expect(try await stage.get("\(start)-\(start + 99)").body == Array(Self.film[start..<start + 100]))
            }
            #expect(odd.requests.count == 2)
        }
    }

    @Test("parts in answer to one range are passed on as they come, and not stored")
    func multipart() async throws {
        let body = "--X\r\nContent-Range: bytes 5-6/9\r\n\r\nok\r\n--X--\r\n"
        let head = "HTTP/1.1 206 Partial Content\r\nContent-Type: multipart/byteranges; boundary=X\r\n"
        let asked = Mutex(0)
        try await HostileOrigin.run { _ in
            asked.withLock { $0 += 1 }
            return Array("\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
        } _: { origin in
            try await ProxyBench.run { proxy async throws in
                for _ in 0..<2 {
                    let answer = try await RawClient.exchange(
                        port: proxy.server.port, origin.target("/film.mp4"), ["Range: bytes=5-6"])
                    #expect(answer.head.status == 206 && answer.body == Array(body.utf8))
                    #expect(answer.head.fields["content-type"] == "multipart/byteranges; boundary=X")
                }
                #expect(asked.withLock { $0 } == 2)
            }
        }
    }

    @Test("a bounded range of a chunked file without ranges and validators brings the whole, again and again")
    func wholeInPlaceOfPart() async throws {
        try await HostileOrigin.run { _ in
            var body = Array("HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
            for start in stride(from: 0, to: 300_000, by: 15_000) {
                body += Array("3a98\r\n".utf8) + Self.film[start..<start + 15_000] + Array("\r\n".utf8)
            }
            return body + Array("0\r\n\r\n".utf8)
        } _: { origin in
            try await ProxyBench.run(configure: { $0.linger = .zero }) { proxy async throws in
                for range in ["0-1", "1000-1999", "150000-150001"] {
                    let client = try RawClient(port: proxy.server.port)
                    // So that the proxy sends no chunks.
                    try await client.send(
                        "GET \(origin.target("/\(range).mp4")) HTTP/1.0\r\nRange: bytes=\(range)\r\n\r\n")
                    #expect(try await client.head().status == 200)
                    #expect(try await client.upTo(1 << 20) == Array(Self.film.prefix(300_000)), "\(range)")
                }
            }
        }
    }

    @Test("a transcode that its origin cannot resume is answered as the origin does, and requested once")
    func transcode() async throws {
        let asked = Mutex(0)
        try await HostileOrigin.run { _ in
            asked.withLock { $0 += 1 }
            let head =
                "HTTP/1.1 200 OK\r\nContent-Type: audio/mpeg\r\nAccept-Ranges: none\r\nContent-Length: 252000\r\n\r\n"
            return Array(head.utf8) + Self.film.prefix(240_000)
        } _: { origin in
            try await ProxyBench.run { proxy async throws in
                let client = try RawClient(port: proxy.server.port)
                try await client.get(origin.target("/stream"), ["Range: bytes=0-"])
                let head = try await client.head()
                #expect(head.status == 200 && head.fields["accept-ranges"] == "none")
                #expect(head.fields["content-range"] == nil)
                #expect(try await client.upTo(252_000) == Array(Self.film.prefix(240_000)))
                await proxy.becomeIdle()
                #expect(asked.withLock { $0 } == 1)
            }
        }
    }
}
