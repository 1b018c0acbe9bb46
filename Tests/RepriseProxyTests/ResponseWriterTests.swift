import Foundation
import HTTPTypes
import Reprise
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Every kind of head that the proxy writes, line by line.
///
/// The clock stands still at 08:49:37, and the origin's responses are a minute old.
@Suite("Heads as written", .limit(minutes: 1)) struct ResponseWriterTests {
    private static let date = "Sun, 06 Nov 1994 08:48:37 GMT"
    private static let film = Array("abcdefghijklmnopqrstuvwxyz".utf8)
    /// Lines of every response with bytes of the film, up to `Cache-Status`.
    private static let filmLines =
        [
            "Content-Type: video/mp4", "Date: \(date)", "Last-Modified: Sat, 05 Nov 1994 00:00:00 GMT",
            "Content-Security-Policy: sandbox allow-same-origin; default-src 'none'; media-src 'self'; img-src 'self'; "
                + "style-src 'unsafe-inline'; frame-ancestors 'none'",
        ] + labels
    private static let labels = [
        "X-Content-Type-Options: nosniff", "Cross-Origin-Resource-Policy: same-origin", "ETag: \"v1\"",
        "Via: 1.1 reprise", "Accept-Ranges: bytes",
    ]
    /// The lines that keep a browser from running a text.
    private static let guards = [
        "Content-Security-Policy: sandbox; default-src 'none'; frame-ancestors 'none'",
        "X-Content-Type-Options: nosniff", "Cross-Origin-Resource-Policy: same-origin",
    ]

    /// An origin with a film, a text of unknown length that must not be stored, and nothing else.
    private static func origin() -> CannedOrigin {
        CannedOrigin { request in
            switch request.url.target {
            case "/film": filmAnswer(to: request)
            case "/text":
                CannedOrigin.Answer(
                    status: 200, fields: [.contentType: "text/plain", .cacheControl: "no-store", .date: date],
                    body: "text")
            default:
                CannedOrigin.Answer(
                    status: 404, fields: [.contentType: "text/plain", .contentLength: "4", .date: date], body: "none")
            }
        }
    }

    private static func filmAnswer(to request: OriginRequest) -> CannedOrigin.Answer {
        var fields: HTTPFields = [
            .contentType: "video/mp4", .date: date, .eTag: "\"v1\"", .lastModified: "Sat, 05 Nov 1994 00:00:00 GMT",
            .acceptRanges: "bytes",
        ]
        guard request.fields[.range] == "bytes=2-5" else {
            fields[.contentLength] = "26"
            return CannedOrigin.Answer(status: 200, fields: fields, body: String(decoding: film, as: UTF8.self))
        }
        fields[.contentRange] = "bytes 2-5/26"
        fields[.contentLength] = "4"
        return CannedOrigin.Answer(status: 206, fields: fields, body: "cdef")
    }

    private func run(_ body: (ProxyServer) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        var configuration = MediaCache.Configuration()
        configuration.clock = CacheClock(ContinuousClock()) { Date(timeIntervalSince1970: 784_111_777) }
        let clock = configuration.clock
        let cache = try await MediaCache.open(
            directory: directory.path, origin: Self.origin(), configuration: configuration)
        let result: Result<Void, any Error>
        do {
            result = .success(try await CannedOrigin.serve(cache, configure: { $0.clock = clock }, body))
        } catch { result = .failure(error) }
        await cache.close()
        directory.remove()
        try result.get()
    }

    /// The lines of the head, with words for what differs each time: the proxy's own date, the length of its texts, and
    /// the boundary that it draws.
    private func head(
        _ server: ProxyServer, _ path: String, _ fields: [String] = [], method: String = "GET"
    ) async throws -> [String] {
        let client = try RawClient(port: server.port)
        try await client.get("/http/origin.test\(path)", fields, method: method)
        let lines = try await client.headLines()
        let isOwnText = lines.contains("Content-Type: text/plain; charset=utf-8")
        return lines.map { line in
            if isOwnText, line.hasPrefix("Content-Length: ") { return "Content-Length: TEXT" }
            if line.hasPrefix("Date: "), line != "Date: \(Self.date)" { return "Date: NOW" }
            return line.replacing(#/boundary=[-a-z0-9]+/#, with: "boundary=DRAWN")
        }
    }

    @Test func theWholeAsAMissAHitAndAHead() async throws {
        try await run { server async throws in
            func expected(_ status: String) -> [String] {
                ["HTTP/1.1 200 OK"] + Self.filmLines + ["Cache-Status: \(status)", "Content-Length: 26", "Age: 60"]
            }
            let missed = try await head(server, "/film")
            #expect(missed == expected("reprise; fwd=uri-miss; fwd-status=200; stored"))
            #expect(try await head(server, "/film") == expected("reprise; hit"))
            #expect(try await head(server, "/film", method: "HEAD") == expected("reprise; hit"))
            let closed = try await head(server, "/film", ["Connection: close"])
            #expect(closed == expected("reprise; hit") + ["Connection: close"])
        }
    }

    @Test func oneRange() async throws {
        try await run { server async throws in
            func expected(_ status: String, _ range: String, _ length: Int) -> [String] {
                ["HTTP/1.1 206 Partial Content"] + Self.filmLines
                    + [
                        "Cache-Status: \(status)", "Content-Range: bytes \(range)/26", "Content-Length: \(length)",
                        "Age: 60",
                    ]
            }
            let missed = try await head(server, "/film", ["Range: bytes=2-5"])
            #expect(missed == expected("reprise; fwd=uri-miss; fwd-status=206; stored", "2-5", 4))
            #expect(try await head(server, "/film", ["Range: bytes=3-4"]) == expected("reprise; hit", "3-4", 2))
        }
    }

    @Test func severalRanges() async throws {
        try await run { server async throws in
            _ = try await head(server, "/film")
            let parts = try await head(server, "/film", ["Range: bytes=0-1,4-5"])
            let lines = ["Content-Type: multipart/byteranges; boundary=DRAWN"] + Self.filmLines[1...2] + Self.guards
            #expect(
                parts.filter { !$0.hasPrefix("Content-Length: ") } == ["HTTP/1.1 206 Partial Content"] + lines
                    + Self.labels[2...] + ["Cache-Status: reprise; hit", "Age: 60"])
            #expect(parts.contains { $0.hasPrefix("Content-Length: ") })
        }
    }

    @Test func aRangeThatDoesNotExist() async throws {
        try await run { server async throws in
            _ = try await head(server, "/film")
            let refused = try await head(server, "/film", ["Range: bytes=26-"])
            #expect(
                refused
                    == [
                        "HTTP/1.1 416 Range Not Satisfiable", "Date: NOW", "Content-Type: text/plain; charset=utf-8",
                        "Content-Length: TEXT", "Content-Range: bytes */26", "Cache-Status: reprise; hit",
                    ] + Self.guards)
        }
    }

    @Test func conditions() async throws {
        try await run { server async throws in
            _ = try await head(server, "/film")
            let lines = Self.filmLines + ["Cache-Status: reprise; hit"]
            for method in ["GET", "HEAD"] {
                #expect(
                    try await head(server, "/film", ["If-None-Match: \"v1\""], method: method)
                        == ["HTTP/1.1 304 Not Modified"] + lines + ["Age: 60"])
                #expect(
                    try await head(server, "/film", ["If-Match: \"v2\""], method: method)
                        == ["HTTP/1.1 412 Precondition Failed"] + lines + ["Content-Length: 0", "Age: 60"])
            }
        }
    }

    @Test func aResponseThatBypassesTheCache() async throws {
        try await run { server async throws in
            func expected(_ status: String) -> [String] {
                [
                    "HTTP/1.1 200 OK", "Content-Type: text/plain", "Cache-Control: no-store", "Date: \(Self.date)",
                    "Cache-Status: reprise; \(status); fwd-status=200", "Via: 1.1 reprise",
                ] + Self.guards + ["Transfer-Encoding: chunked"]
            }
            // The first request learns that nothing is stored; the second one knows it.
            for _ in 0..<2 { #expect(try await head(server, "/text") == expected("fwd=bypass")) }
            #expect(try await head(server, "/text", method: "POST") == expected("fwd=method"))
        }
    }

    @Test func errors() async throws {
        try await run { server async throws in
            let none = try await head(server, "/none")
            #expect(
                none
                    == [
                        "HTTP/1.1 404 Not Found", "Content-Type: text/plain", "Content-Length: 4", "Date: \(Self.date)",
                        "Cache-Status: reprise; fwd=uri-miss; fwd-status=404", "Via: 1.1 reprise",
                    ] + Self.guards)
            let unstored = try await head(server, "/other", ["Cache-Control: only-if-cached"])
            #expect(
                unstored
                    == [
                        "HTTP/1.1 504 Gateway Timeout", "Date: NOW", "Content-Type: text/plain; charset=utf-8",
                        "Content-Length: TEXT", "Cache-Status: reprise; detail=notStored",
                    ] + Self.guards)
            let unsupported = try await head(server, "/film", method: "CONNECT")
            #expect(
                unsupported
                    == [
                        "HTTP/1.1 405 Method Not Allowed", "Date: NOW", "Content-Type: text/plain; charset=utf-8",
                        "Content-Length: TEXT", "Allow: GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE",
                    ] + Self.guards)
        }
    }
}
