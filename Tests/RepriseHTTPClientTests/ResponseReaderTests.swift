import HTTPTypes
import NIOCore
import TestLimits
import Testing

@testable import RepriseHTTPClient

/// Responses byte by byte, each whole and cut at every position.
@Suite(.limit(minutes: 1)) struct ResponseReaderTests {
    /// What a reader makes of the bytes of one connection.
    private struct Outcome: Equatable {
        var statuses: [Int] = []
        var fields: [String] = []
        var body = ""
        var isComplete = false
        var oddity: String?
        var leavesConnectionUsable = false
        var fault: String?
        var line: Int?
    }

    private func read(_ pieces: [[UInt8]], _ method: HTTPRequest.Method = .get, closes: Bool = false) -> Outcome {
        var (reader, outcome) = (ResponseReader(), Outcome())
        reader.begin(method)
        do {
            for piece in pieces {
                reader.receive(ByteBuffer(bytes: piece))
                while let part = try reader.next() {
                    switch part {
                    case .interim(let head): outcome.statuses.append(head.status.code)
                    case .head(let head):
                        outcome.statuses.append(head.status.code)
                        outcome.fields = head.headerFields.map { "\($0.name): \($0.value)" }
                    case .body(let piece): outcome.body += String(buffer: piece)
                    case .end: outcome.isComplete = true
                    }
                }
            }
            if closes, reader.finish() { outcome.isComplete = true }
        } catch {
            (outcome.fault, outcome.line) = (error.description, error.line)
        }
        outcome.oddity = reader.oddity
        outcome.leavesConnectionUsable = outcome.isComplete && reader.leavesConnectionUsable
        return outcome
    }

    /// The outcome of `text`, which must be the same wherever it is cut.
    private func read(_ text: String, _ method: HTTPRequest.Method = .get, closes: Bool = false) -> Outcome {
        let bytes = Array(text.utf8)
        let outcome = read([bytes], method, closes: closes)
        for cut in bytes.indices.dropFirst() {
            #expect(
                read([Array(bytes[..<cut]), Array(bytes[cut...])], method, closes: closes) == outcome, "cut at \(cut)")
        }
        #expect(read(bytes.map { [$0] }, method, closes: closes) == outcome, "byte by byte")
        return outcome
    }

    @Test(
        "The end of a body is determined by RFC 9112 §6.3",
        arguments: [
            ("200 OK\r\nContent-Length: 2", HTTPRequest.Method.get, "ok", "ok"),
            ("200 OK\r\nTransfer-Encoding: chunked", .get, "1\r\no\r\n1;a=b\r\nk\r\n0\r\nX: y\r\n\r\n", "ok"),
            ("200 OK\r\nContent-Length: 2", .head, "", ""), ("304 Not Modified\r\nContent-Length: 2", .get, "", ""),
            ("204 No Content", .get, "", ""), ("200 OK\r\nContent-Length: 0", .get, "", ""),
            ("206 Partial Content\r\nContent-Length: 2, 2", .head, "", ""),
        ])
    func theEndOfABody(_ head: String, _ method: HTTPRequest.Method, _ body: String, _ expected: String) {
        let outcome = read("HTTP/1.1 \(head)\r\n\r\n\(body)", method)
        #expect(outcome.body == expected && outcome.isComplete && outcome.fault == nil)
        #expect(outcome.leavesConnectionUsable == (outcome.oddity == nil))
    }

    @Test func exactResponsesLeaveTheirConnectionUsable() {
        let interim = "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
        let outcome = read(interim + "HTTP/1.1 200 \r\nA:b\r\nContent-Length:  2 \r\n\r\nok")
        #expect(outcome.statuses == [103, 100, 200] && outcome.fields == ["A: b", "Content-Length: 2"])
        #expect(outcome.isComplete && outcome.leavesConnectionUsable && outcome.oddity == nil)
        #expect(!read("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok+").leavesConnectionUsable)
        #expect(!read("HTTP/1.1 200 OK\r\nConnection: a,Close\r\nContent-Length: 2\r\n\r\nok").leavesConnectionUsable)
        #expect(!read("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok").leavesConnectionUsable)
        #expect(
            read("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok").leavesConnectionUsable)
    }

    @Test(
        "What tolerant readers take is read, and ends its connection",
        arguments: [
            ("HTTP/1.1 200 OK\nContent-Length: 2\n\nok", ["Content-Length: 2"]),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\n\r\nok", ["Content-Length: 2"]),
            ("HTTP/1.1 200 OK\r\r\nContent-Length: 2\r\r\n\r\r\nok", ["Content-Length: 2"]),
            ("\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", ["Content-Length: 2"]),
            // RFC 9112 §5.1: a proxy removes the blank.
            ("HTTP/1.1 200 OK\r\nX \t: y\r\nContent-Length : 2\r\n\r\nok", ["X: y", "Content-Length: 2"]),
            // RFC 9112 §5.2: a proxy replaces the line break.
            ("HTTP/1.1 200 OK\r\nX: y\r\n\tz\r\nContent-Length:\r\n 2\r\n\r\nok", ["X: y z", "Content-Length: 2"]),
            ("HTTP/1.1 200 OK\r\n folded\r\nContent-Length: 2\r\n\r\nok", ["Content-Length: 2"]),
            // RFC 9110 §8.6: equal lengths are one.
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok", ["Content-Length: 2"]),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2, 02\r\n\r\nok", ["Content-Length: 2"]),
            ("HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok", ["Content-Length: 2"]),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2.0\r\n\r\nok", ["Content-Length: 2"]),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2 bytes\r\n\r\nok", ["Content-Length: 2"]),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length:\r\n\r\nok", ["Content-Length: 2"]),
            // RFC 9112 §6.3: chunked overrides a length.
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
                ["Transfer-Encoding: chunked"]
            ),
            (
                "HTTP/1.0 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
                ["Transfer-Encoding: chunked"]
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked,\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
                ["Transfer-Encoding: chunked"]
            ),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok", ["Content-Length: 2"]),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: none\r\nContent-Length: 2\r\n\r\nok", ["Content-Length: 2"]),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\nContent-Length: 2\r\n\r\nok", ["Content-Length: 2"]),
            ("HTTP/1.1 200 OK\r\nX: a\u{1}b\u{7F}\r\nContent-Length: 2\r\n\r\nok", ["X: a b", "Content-Length: 2"]),
            ("HTTP/1.1 200 OK\r\nX: a\rb\r\nContent-Length: 2\r\n\r\nok", ["X: a b", "Content-Length: 2"]),
            ("HTTP/1.1 200 OK\r\nX[1]: a\r\n b\r\nContent-Length: 2\r\n\r\nok", ["Content-Length: 2"]),
            ("HTTP/1.1 200 OK\r\n: a\r\nno colon\r\nContent-Length: 2\r\n\r\nok", ["Content-Length: 2"]),
            ("http/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", ["Content-Length: 2"]),
            ("HTTP/2 200\r\nContent-Length: 2\r\n\r\nok", ["Content-Length: 2"]),
            ("HTTP/1.1  200 OK\r\nContent-Length: 2\r\n\r\nok", ["Content-Length: 2"]),
            ("HTTP/1.1 200OK\r\nContent-Length: 2\r\n\r\nok", ["Content-Length: 2"]),
            ("ICY 200 OK\r\nContent-Length: 2\r\n\r\nok", ["Content-Length: 2"]),
        ] as [(String, [String])])
    func tolerance(_ text: String, _ fields: [String]) {
        let outcome = read(text)
        #expect(outcome.statuses == [200] && outcome.body == "ok" && outcome.fields == fields)
        #expect(outcome.isComplete && outcome.fault == nil)
        #expect(outcome.oddity != nil && !outcome.leavesConnectionUsable)
    }

    @Test(
        "Chunks that tolerant readers take are read, and end their connection (RFC 9112 §7.1)",
        arguments: [
            "2    \r\nok\r\n0\r\n\r\n", " 2\r\nok\r\n0\r\n\r\n", "2 ;a=b\r\nok\r\n0\r\n\r\n", "2\nok\n0\n\n",
            "2\r\nok\r\n\r\n0\r\n\r\n", "0002\r\nok\r\n0 \r\n\r\n",
        ])
    func oddChunks(_ body: String) {
        let outcome = read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
        #expect(outcome.body == "ok" && outcome.isComplete && outcome.fault == nil)
        #expect(!outcome.leavesConnectionUsable)
    }

    @Test(
        "A length that no body can have is none",
        arguments: ["-1", "9007199254740993", "99999999999999999999999", ""])
    func impossibleLengths(_ length: String) {
        let outcome = read("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nok", closes: true)
        #expect(outcome.body == "ok" && outcome.fields.isEmpty && outcome.isComplete)
        #expect(outcome.oddity?.hasPrefix("Line 2 ") == true)
    }

    @Test(
        "Contradictions are refused, with the number of the line",
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc", 3),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\nabc", 2),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: -1\r\n\r\nabc", 3),
            ("HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nab", 2),
            ("HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nab", 2),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2 3\r\n\r\nab", 2),
            ("HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nab", 2),
            ("HTTP/1.1 200 OK\r\nA: b\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 3),
            ("HTTP/1.1 200 OK\r\nA: b\0c\r\n", 2), ("HTTP/1.1 200\0 OK\r\n", 1), ("HTTP/1.1 200 OK\r\n\0\r\n", 2),
            ("HTTP/1.1 101 Switching Protocols\r\n", 1), ("HTTP/1.1 20 OK\r\n", 1), ("HTTP/1.1 2000 OK\r\n", 1),
            ("HTTP/1.1\r\n", 1), ("SSH-2.0-OpenSSH_9.2\r\n", 1), ("RTSP/1.0 200 OK\r\n", 1), ("<html>\n", 1),
            ("..........", 1), ("\0", 1), ("HTTX", 1), ("\r\r\n\rHTTP", 2),
        ])
    func contradictions(_ text: String, _ line: Int) {
        let outcome = read(text)
        #expect(outcome.line == line && outcome.statuses.isEmpty)
        #expect(outcome.fault?.hasPrefix("Line \(line) of its head ") == true)
    }

    @Test(
        "Chunks without a size, or longer than it, are refused",
        arguments: [
            "zz\r\n", "2 2\r\nok", "-2\r\nok", "+2\r\nok", "0x2\r\nok", "\0", ";a\r\n", "2\r\noks",
            "20000000000001\r\n",
        ])
    func brokenChunks(_ body: String) {
        let outcome = read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body + "\r\n")
        #expect(outcome.fault?.hasPrefix("Its body has a chunk") == true && !outcome.isComplete)
    }

    @Test("An end of the connection ends only bodies that say so, and chunked ones after the last chunk (RFC 9112 §8)")
    func ends() {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"
        for (text, isComplete) in [
            ("HTTP/1.1 200 OK\r\n\r\nok", true), ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", false),
            (chunked, false), (chunked + "0", false), (chunked + "0\r\n", true), ("HTTP/1.1 200 OK\r\n", false),
        ] {
            #expect(read(text, closes: true).isComplete == isComplete)
        }
    }

    @Test func headsWithoutAnEndAreRefused() {
        let line = "A: " + String(repeating: "b", count: 1_000) + "\r\n"
        let long = Array(("HTTP/1.1 200 OK\r\n" + String(repeating: line, count: 300)).utf8)
        #expect(read([long]).line == 262)  // 17 bytes, and 260 lines of 1,005, leave less than a line of 262,144
        #expect(read([Array(String(repeating: "x", count: 262_145).utf8)]).line == 1)
        let many = Array(("HTTP/1.1 200 OK\r\n" + String(repeating: "A:\r\n", count: 5_000)).utf8)
        #expect(read([many]).line == 4_099)
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        for body in [
            String(repeating: "0", count: 20_000), "0\r\n" + String(repeating: line, count: 300),
            String(repeating: "\r\n", count: 20),
        ] {
            #expect(read([Array((chunked + body).utf8)]).fault?.hasPrefix("Its body ") == true)
        }
    }

    @Test func valuesKeepTheirBytes() throws {
        var reader = ResponseReader()
        reader.begin(.get)
        reader.receive(
            ByteBuffer(bytes: Array("HTTP/1.1 200 \u{E9}\r\nX: \u{E9}".utf8) + [0xE9] + Array("\r\n\r\n".utf8)))
        guard case .head(let head) = try reader.next() else {
            Issue.record("no head")
            return
        }
        #expect(head.headerFields.first.map { $0.withUnsafeBytesOfValue { Array($0) } } == [0xC3, 0xA9, 0xE9])
        #expect(reader.oddity == nil)
    }
}
