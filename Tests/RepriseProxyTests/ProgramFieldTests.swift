import HTTPTypes
import Reprise
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// What a program sends reaches its origin, as where it asks the origin itself; what a browser sends does not, and
/// nothing names this server.
@Suite("Fields of programs", .limit(minutes: 1)) struct ProgramFieldTests {
    private static let asked = [
        "Referer: https://tv.example/live?x", "Origin: https://tv.example", "Cookie: a=b", "User-Agent: Mozilla/5.0",
    ]

    private static func run(
        token: String? = nil, answer: CannedOrigin.Answer = .init(status: 200, fields: [.cacheControl: "no-store"]),
        _ body: (ProxyServer, CannedOrigin) async throws -> Void
    ) async throws {
        let origin = CannedOrigin { _ in answer }
        try await origin.serve(configure: { $0.token = token }) { try await body($0, origin) }
    }

    @Test("a program's fields reach the origin", arguments: ["GET", "HEAD"])
    func program(method: String) async throws {
        try await Self.run { server, origin async throws in
            let head = try await RawClient.exchange(port: server.port, "/https/h/x", Self.asked, method: method).head
            #expect(head.status == 200)
            let fields = try #require(origin.requests.last?.fields)
            #expect(fields[.referer] == "https://tv.example/live?x")
            #expect(fields[.origin] == "https://tv.example")
            #expect(fields[.cookie] == "a=b")
            #expect(fields[.userAgent] == "Mozilla/5.0")
        }
    }

    @Test(
        "a browser's do not",
        arguments: [["Sec-Fetch-Site: none"], ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Dest: video"]])
    func browser(signs: [String]) async throws {
        try await Self.run { server, origin async throws in
            let fields = signs + ["Referer: http://localhost/", "Cookie: a=b"]
            #expect(try await RawClient.exchange(port: server.port, "/https/h/x", fields).head.status == 200)
            let sent = try #require(origin.requests.last?.fields)
            #expect(sent[.referer] == nil && sent[.cookie] == nil && sent[.origin] == nil)
        }
    }

    @Test("no field names this server")
    func ownAddress() async throws {
        try await Self.run { server, origin async throws in
            let fields = ["Origin: http://localhost", "Referer: http://localhost/http/tv.example/list.m3u8?a=b"]
            _ = try await RawClient.exchange(port: server.port, "/https/h/x", fields)
            #expect(origin.requests.last?.fields[.origin] == nil)
            #expect(origin.requests.last?.fields[.referer] == "http://tv.example/list.m3u8?a=b")
        }
    }

    @Test(
        "a log-in with Digest for the proxy's address is not sent (RFC 7616 §3.4.6)",
        arguments: [
            ("/https/h/x", false), ("/https/h/other?q", false), ("http://localhost/https/h/x", false), ("/x", true),
            ("/films/x?a=/https/h/x", true),
        ])
    func digest(uri: String, isSent: Bool) async throws {
        try await Self.run { server, origin async throws in
            let value = "Digest username=\"u\", realm=\"r\", nonce=\"n\", uri=\"\(uri)\", response=\"0\""
            _ = try await RawClient.exchange(port: server.port, "/https/h/x", ["Authorization: \(value)"])
            #expect(origin.requests.last?.fields[.authorization] == (isSent ? value : nil))
        }
    }

    @Test(
        "an origin that takes Digest alone is explained",
        arguments: [
            (["Digest realm=\"r\", nonce=\"n\""], true),
            (["Digest realm=\"r\"", "Digest realm=\"r\", algorithm=MD5"], true),
            (["Digest realm=\"r\"", "Basic realm=\"r\""], false), (["Basic realm=\"r\""], false),
            (["Digest realm=\"r\", Basic realm=\"r\""], false),
        ])
    func challenge(challenges: [String], isExplained: Bool) async throws {
        var fields: HTTPFields = [.contentType: "text/html", .contentLength: "4"]
        fields[values: .wwwAuthenticate] = challenges
        try await Self.run(answer: .init(status: 401, fields: fields, body: "page")) { server, _ async throws in
            let answer = try await RawClient.exchange(port: server.port, "/https/h/x")
            #expect(answer.head.status == 401)
            #expect(answer.head.fields["www-authenticate"] != nil)
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(text.contains("header-file") == isExplained && text.contains("Basic") == isExplained, "\(text)")
        }
    }

    @Test("in a shared cache, an answer to a page that a program names is for that program")
    func shared() async throws {
        let origin = ScriptedOrigin { request, _ in
            let text = request.fields[.referer] ?? "none"
            return .init(
                200, [.contentType: "audio/mpeg", .contentLength: "\(text.utf8.count)", .cacheControl: "max-age=60"],
                body: Array(text.utf8))
        }
        try await origin.run(configure: { $0.reuse.isShared = true }) { cache async throws in
            try await CannedOrigin.serve(cache) { server async throws in
                func get(_ fields: [String]) async throws -> String {
                    let body = try await RawClient.exchange(port: server.port, "/https/h/x", fields).body
                    return String(decoding: body, as: UTF8.self)
                }
                #expect(try await get(["Referer: https://evil.example/"]) == "https://evil.example/")
                #expect(try await get([]) == "none")
                #expect(try await get([]) == "none")
                #expect(origin.requests.count == 2)
            }
        }
    }
}
