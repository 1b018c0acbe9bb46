import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// An error in place of media is passed on and not stored, whatever its media type is.
@Suite("Errors in place of media", .limit(minutes: 2)) struct FirstBytesTests {
    struct Case: Sendable {
        var name = "film.mp4"
        var type: String? = "video/mp4"
        var body = Array("{\"error\": \"no such user\"}".utf8)
        var hasLength = true
        var etag: String? = "\"1\""
        var isStored = false
    }

    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + Array(repeating: 0, count: 60)
    private static let media = TestPattern.bytes(in: 0..<2000, seed: 1)

    static let cases = [
        Case(), Case(hasLength: false), Case(type: nil), Case(type: "application/octet-stream"),
        Case(type: "text/plain"), Case(name: "play.php"), Case(body: Array("<!DOCTYPE html>\n<html>".utf8)),
        Case(body: Array(String(repeating: "{\"a\": 1}, ", count: 8000).utf8)), Case(body: png),
        Case(type: nil, body: png), Case(body: [], hasLength: false),
        Case(body: Array("FAILED TO CONNECT".utf8), etag: nil),
        // These are what they say.
        Case(body: media, isStored: true), Case(body: media, hasLength: false, isStored: true),
        Case(body: Array("FAILED TO CONNECT".utf8), isStored: true),
        Case(body: Array("0123456789".utf8), etag: nil, isStored: true),
        Case(name: "note", type: "text/plain", isStored: true),
        Case(name: "s.ts", body: Array("WEBVTT\n\n".utf8), isStored: true),
        Case(name: "cover", type: "image/png", body: png, isStored: true),
        Case(name: "list.pls", type: "audio/x-scpls", body: Array("[playlist]\n".utf8), isStored: true),
        // Errors are not so long.
        Case(body: Array(String(repeating: "text ", count: 60_000).utf8), isStored: true),
    ]

    @Test("it is passed on, and the next request asks again", arguments: cases)
    func passedOn(_ item: Case) async throws {
        let origin = ScriptedOrigin { _, _ in
            var fields: HTTPFields = item.hasLength ? [.contentLength: "\(item.body.count)"] : [:]
            fields[.contentType] = item.type
            fields[.eTag] = item.etag
            return .init(200, fields, body: item.body)
        }
        try await origin.run { cache async throws in
            let resource = try cache.resource(for: "http://media.test/\(item.name)")
            #expect(try await resource.read().collect() == item.body)
            await cache.becomeIdle()
            #expect(try await cache.entries().isEmpty == !item.isStored)
        }
    }

    @Test("once the error is over, the film is stored")
    func mended() async throws {
        let origin = ScriptedOrigin { request, number in
            number == 1
                ? .init(200, [.contentType: "video/mp4", .contentLength: "8"], body: Array("no place".utf8))
                : .media(request, Self.media)
        }
        try await origin.run { cache async throws in
            let resource = try cache.resource(for: "http://media.test/film.mp4")
            #expect(try await resource.read().collect() == Array("no place".utf8))
            // The first read bypasses the store, and allows storing again.
            for _ in 0..<3 { #expect(try await resource.read().collect() == Self.media) }
            #expect(origin.requests.count == 3)
        }
    }
}
