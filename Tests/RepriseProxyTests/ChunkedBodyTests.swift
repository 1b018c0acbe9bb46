import HTTPTypes
import NIOCore
import Reprise
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Bodies of requests that come in chunks: RFC 9112 §6.1, §7.1.
@Suite(.limit(minutes: 1)) struct ChunkedBodyTests {
    /// The body decoded from `text`, and the bytes behind it; `nil` while it is incomplete.
    private func take(_ text: String, piece: Int = .max) throws(Refusal) -> (body: String, rest: Int)? {
        var parser = RequestParser()
        var body = RequestBody.chunked(ChunkedBody())
        var rest = Substring(text)
        while !rest.isEmpty {
            let part = rest.prefix(piece)
            rest = rest.dropFirst(part.count)
            parser.append(ByteBuffer(substring: part))
            if let bytes = try parser.take(&body) {
                return (String(decoding: bytes, as: UTF8.self), parser.bufferedBytes + rest.utf8.count)
            }
        }
        return nil
    }

    @Test("chunks are joined, whatever pieces they arrive in", arguments: [1, 2, 3, 7, .max])
    func pieces(piece: Int) throws {
        let text =
            "4;name=\"a;b\"\r\nWiki\r\n6 ; x\r\npedia \r\nE\r\nin \r\n\r\nchunks.\r\n000\r\nTrailer: dropped\r\n\r\nGET"
        let taken = try #require(try take(text, piece: piece))
        #expect(taken.body == "Wikipedia in \r\n\r\nchunks.")
        #expect(taken.rest == 3)
        #expect(try take("0\r\n\r\n", piece: piece)?.body == "")
        #expect(try take("5\r\nabc", piece: piece) == nil)
    }

    @Test(
        "ambiguous chunks are refused",
        arguments: [
            "\r\n", "g\r\n", "-1\r\n", "+1\r\na\r\n", "0x1\r\na\r\n", " 1\r\na\r\n", "1 \r\na\r\n", "1\na\r\n0\r\n\r\n",
            "1\r\nab\r\n",
            "1\r\na\n0\r\n\r\n", "1\r\na0\r\n\r\n", "123456789\r\n", "1 x\r\na\r\n", "1;a\rb\r\na\r\n",
            "1;\u{1}\r\na\r\n",
            "0\r\nA: b\n\r\n", ";\r\n",
        ])
    func malformed(text: String) {
        #expect { try take(text) } throws: { ($0 as? Refusal)?.status == 400 }
    }

    @Test("everything has a limit") func limits() throws {
        #expect { try take("100001\r\n") } throws: { ($0 as? Refusal)?.status == 413 }
        let whole = String(repeating: "a", count: RequestBody.maximum)
        #expect(try take("100000\r\n\(whole)\r\n0\r\n\r\n")?.body.count == RequestBody.maximum)
        #expect { try take("100000\r\n\(whole)\r\n1\r\n") } throws: { ($0 as? Refusal)?.status == 413 }
        let extensions = String(repeating: "1;\(String(repeating: "x", count: 1000))\r\na\r\n", count: 17)
        #expect { try take(extensions) } throws: { ($0 as? Refusal)?.status == 431 }
        let trailers = "0\r\n" + String(repeating: "A: \(String(repeating: "x", count: 1000))\r\n", count: 17)
        #expect { try take(trailers) } throws: { ($0 as? Refusal)?.status == 431 }
        let line = "1;" + String(repeating: "x", count: 2000)
        #expect { try take(line) } throws: { ($0 as? Refusal)?.status == 400 }
    }

    private static func post(_ fields: [String], method: String = "POST", version: String = "1.1") -> [String] {
        ["\(method) /http/h/a HTTP/\(version)", "Host: localhost", "Connection: close"] + fields
    }

    @Test("a chunked body is relayed whole, with its length") func relayed() async throws {
        let origin = CannedOrigin {
            .init(status: 200, fields: [.contentLength: "2"], body: $0.body.isEmpty ? "no" : "ok")
        }
        try await origin.serve { server async throws in
            let answer = try await server.raw(
                Self.post(["Transfer-Encoding: Chunked"]), body: "3\r\nabc\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.hasSuffix("ok"))
            #expect(origin.requests.map(\.body) == [Array("abcde".utf8)])
            #expect(origin.requests.first?.fields[.transferEncoding] == nil)
        }
    }

    @Test("Expect: 100-continue works with chunks (RFC 9110 §10.1.1)") func expect() async throws {
        let origin = CannedOrigin { _ in .init(status: 200, fields: [.contentLength: "0"]) }
        try await origin.serve { server async throws in
            let client = try RawClient(port: server.port)
            let lines = Self.post(["Transfer-Encoding: chunked", "Expect: 100-continue"])
            try await client.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
            #expect(try await client.head().status == 100)
            try await client.send("1\r\na\r\n0\r\n\r\n")
            #expect(try await client.head().status == 200)
            #expect(origin.requests.map(\.body) == [[0x61]])
        }
    }

    @Test(
        "framings that another server could interpret differently are refused (RFC 9112 §6.1, §6.3)",
        arguments: [
            (post(["Transfer-Encoding: chunked", "Content-Length: 5"]), 400),
            (post(["Transfer-Encoding: chunked"], version: "1.0"), 400),
            (post(["Transfer-Encoding: gzip, chunked"]), 501),
            (post(["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"]), 501),
            (post(["Transfer-Encoding:"]), 501),
            (post(["Transfer-Encoding: chunked"], method: "GET"), 413),
            (post(["Transfer-Encoding: chunked"], method: "HEAD"), 413),
            (post(["Transfer-Encoding: chunked"], method: "OPTIONS"), 413),
        ])
    func refused(lines: [String], status: Int) async throws {
        let origin = CannedOrigin { _ in .init(status: 200) }
        try await origin.serve { server async throws in
            let answer = try await server.raw(lines, body: "1\r\na\r\n0\r\n\r\n")
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "))
            #expect(origin.requests.isEmpty)
        }
    }
}
