import Foundation
import NIOCore
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseProxy

/// Lines of an access log, whatever clients and origins wrote.
@Suite(.limit(minutes: 1)) struct AccessLogEntryTests {
    /// The entry for a request with that head.
    private static func entry(
        _ head: [String], token: String? = nil, name: String? = nil, client: String? = "192.0.2.7", status: Int = 206,
        cacheStatus: String? = "reprise; hit"
    ) throws -> AccessLogEntry {
        try entry(
            Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8), token: token, name: name,
            client: client, status: status, cacheStatus: cacheStatus)
    }

    private static func entry(
        _ head: [UInt8], token: String?, name: String? = nil, client: String?, status: Int, cacheStatus: String?
    ) throws -> AccessLogEntry {
        var parser = RequestParser()
        parser.append(ByteBuffer(bytes: head))
        let parsed = try #require(try parser.next())
        var served = SourceBytes()
        (served.store, served.origin) = (900, 100)
        return AccessLogEntry(
            request: LoggedRequest(
                parsed, hiding: TokenTexts(token.map { [$0] } ?? []), from: client, at: 784_111_777.25),
            status: status,
            bytes: 1000, served: served, firstByte: .microseconds(1234), duration: .milliseconds(50),
            tokenName: name, cacheStatus: cacheStatus)
    }

    private static let usual = [
        "GET /https/a.example/film.mp4?signature=secret HTTP/1.1", "Host: localhost", "Range: bytes=0-999",
        "User-Agent: mpv 0.38", "Authorization: Basic c2VjcmV0", "Cookie: secret=1",
        "Referer: http://b.example/?secret",
        "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    ]

    @Test func json() throws {
        let line = try Self.entry(Self.usual).line(as: .json)
        #expect(
            line == """
                {"time":"1994-11-06T08:49:37.250Z","client":"192.0.2.7","method":"GET",\
                "url":"https://a.example/film.mp4","range":"bytes=0-999","status":206,"bytes":1000,"storeBytes":900,\
                "joinedBytes":0,"originBytes":100,"firstByteMilliseconds":1.234,"milliseconds":50.000,\
                "cacheStatus":"reprise; hit","userAgent":"mpv 0.38","trace":"0af7651916cd43dd8448eb211c80319c"}

                """)
    }

    @Test("Apache's combined log format") func combined() throws {
        let line = try Self.entry(Self.usual).line(as: .combined)
        #expect(
            line == """
                192.0.2.7 - - [06/Nov/1994:08:49:37 +0000] "GET https://a.example/film.mp4 HTTP/1.1" 206 1000 "-" \
                "mpv 0.38"

                """)
        let bare = try Self.entry(["HEAD / HTTP/1.0"], client: nil).line(as: .combined)
        #expect(bare == "- - - [06/Nov/1994:08:49:37 +0000] \"HEAD / HTTP/1.0\" 206 1000 \"-\" \"-\"\n")
    }

    @Test func secretsAreInNoLine() throws {
        for format in AccessLogFormat.allCases {
            #expect(!(try Self.entry(Self.usual).line(as: format).contains("secret")))
            #expect(!(try Self.entry(Self.usual).line(as: format).contains("c2Vj")))
            let behindToken = try Self.entry(
                ["GET /sesame/https/a.example/b HTTP/1.1", "Host: a"], token: "sesame")
            #expect(!behindToken.line(as: format).contains("sesame"))
        }
    }

    /// Values that would break a line, or a program that reads it.
    private static let hostile: [[UInt8]] = [
        Array("\"".utf8), Array("\\".utf8), Array("\\\"".utf8), Array("\",\"status\":200,\"x\":\"".utf8),
        Array("a\tb".utf8), Array("\" 200 0 \"-\" \"x".utf8), [0xFF, 0xFE], [0xC3], [0xE2, 0x80, 0xA8], [0xC2, 0x85],
        Array("é日本🎬".utf8), Array("%0a%0d".utf8), Array("{}[]".utf8), [0xED, 0xA0, 0x80],
        Array(String(repeating: "a", count: 20_000).utf8), Array(String(repeating: "🎬", count: 5000).utf8),
    ]

    @Test("what a client sends stays in its place, on one valid line", arguments: Self.hostile)
    func hostileValues(value: [UInt8]) throws {
        var head = Array("GET /https/a.example/b HTTP/1.1\r\nHost: a\r\nUser-Agent: x".utf8) + value
        head += Array("y\r\nRange: z".utf8) + value + Array("\r\n\r\n".utf8)
        let text = String(decoding: value, as: UTF8.self)
        let entry = try Self.entry(head, token: nil, client: "::1", status: 200, cacheStatus: "a\(text)b")
        let json = entry.line(as: .json)
        #expect(json.unicodeScalars.filter { ["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"].contains($0) } == ["\n"])
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        #expect(object["status"] as? Int == 200)
        #expect(object.count == 14)
        let agent = try #require(object["userAgent"] as? String)
        let whole = "x\(text)y"
        #expect(agent == whole || whole.unicodeScalars.count > 256 && whole.hasPrefix(agent.dropLast()))
        #expect(json.utf8.count < 8000)
        let combined = entry.line(as: .combined)
        #expect(combined.utf8.allSatisfy { 0x20...0x7E ~= $0 || $0 == 0x0A })
        let form = #/::1 - - \[[^\]"]+\] "GET https://a.example/b HTTP/1.1" 200 1000 "-" "x[^"]*"\n/#
        #expect(combined.wholeMatch(of: form) != nil, "\(combined)")
    }

    @Test func timesThatMakeNoSenseStayNumbers() throws {
        for (first, whole) in [
            (Duration.seconds(-5), Duration.seconds(-1)), (.seconds(1_000_000), .seconds(1_000_000)),
        ] {
            let request = LoggedRequest(malformedFrom: nil, at: .nan)
            let entry = AccessLogEntry(
                request: request, status: 400, bytes: 0, served: SourceBytes(), firstByte: first, duration: whole,
                tokenName: nil, cacheStatus: nil)
            let object = try JSONSerialization.jsonObject(with: Data(entry.line(as: .json).utf8)) as? [String: Any]
            #expect(try #require(object?["milliseconds"] as? Double) >= 0)
            #expect(object?["url"] as? String == "-")
        }
    }

    @Test(arguments: [
        (0.0, "1970-01-01T00:00:00.000Z", "01/Jan/1970:00:00:00 +0000"),
        (951_782_399.9996, "2000-02-28T23:59:59.999Z", "28/Feb/2000:23:59:59 +0000"),
        (-0.5, "1969-12-31T23:59:59.500Z", "31/Dec/1969:23:59:59 +0000"),
        (Double.infinity, "1970-01-01T00:00:00.000Z", "01/Jan/1970:00:00:00 +0000"),
        (1e300, "1970-01-01T00:00:00.000Z", "01/Jan/1970:00:00:00 +0000"),
    ]) func moments(time: Double, iso: String, common: String) {
        #expect(LogTime.iso(time) == iso)
        #expect(LogTime.common(time) == common)
    }

    @Test(
        "W3C Trace Context §3.2.2",
        arguments: [
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "4bf92f3577b34da6a3ce929d0e0e4736"),
            ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", "4bf92f3577b34da6a3ce929d0e0e4736"),
            (
                "cc-12345678901234567890123456789012-1234567890123456-01-what-the-future",
                "12345678901234567890123456789012"
            ),
            ("00-12345678901234567890123456789012-1234567890123456-01-x", nil),
            ("ff-12345678901234567890123456789012-1234567890123456-01", nil),
            ("00-00000000000000000000000000000000-1234567890123456-01", nil),
            ("00-12345678901234567890123456789012-0000000000000000-01", nil),
            ("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", nil),
            ("00-1234567890123456789012345678901-1234567890123456-01", nil), ("", nil), ("----", nil),
            ("00-é-é-é", nil),
        ] as [(String, String?)]) func traces(field: String, trace: String?)
    {
        #expect(LoggedRequest.traceID(field) == trace)
    }
}
