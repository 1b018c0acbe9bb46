import Playlists
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Edited playlists that are kept in memory.
@Suite("Written texts", .limit(minutes: 1)) struct WrittenTextTests {
    private typealias Site = StreamSite

    /// A body of the list at `path`, as a client that knows the proxy as `host` gets it.
    private static func body(
        _ site: Site, _ path: String = "/list.m3u8", bytes: [UInt8]? = nil, generation: String? = nil,
        prefix: String = "",
        host: String = "h"
    ) async throws -> GatheredBody {
        let resource = try site.proxy.bench.cache.resource(for: site.origin.url(path))
        let read = try await resource.read()
        let stored = try await read.collect()
        var information = read.information
        if let generation { information.generation = generation }
        return GatheredBody(
            bytes: bytes ?? stored, information: information, resource: resource, prefix: prefix, host: host)
    }

    private static func filter(_ site: Site) -> PlaylistFilter {
        PlaylistFilter(
            streams: StreamKnowledge(isShared: false, clock: .system),
            files: FileFinder(cache: site.proxy.bench.cache, items: nil)
        ) { _, _ in }
    }

    private static func edit(_ body: GatheredBody, _ filter: PlaylistFilter) async throws -> [UInt8]? {
        let editor = try #require(filter.editor(of: body.information, at: body.url))
        return try await editor.edit(body)
    }

    @Test("a text is used again for the same stored response, URL, redirect, token and host alone")
    func again() async throws {
        try await Site.run { site async throws in
            let list = Site.list(["/1.ts"], type: "VOD", ended: true)
            site.publish(list, at: "/list.m3u8")
            site.publish(list, at: "/other.m3u8")
            let filter = Self.filter(site)
            let body = try await Self.body(site)
            let text = try await Self.edit(body, filter)
            #expect(text != nil && text != body.bytes)
            // Another text under the same key shows that it is used.
            let kept = WrittenTexts.Text(bytes: [1], role: .init(.playlist, for: .media), imported: nil)
            filter.texts.keep(kept, for: WrittenTexts.Key(body))
            #expect(try await Self.edit(body, filter) == [1])
            #expect(
                try await site.proxy.bench.cache.entries().first { $0.url == body.url }?.information.role == kept.role)
            for other in [
                try await Self.body(site, host: "g"), try await Self.body(site, prefix: "/token"),
                try await Self.body(site, "/other.m3u8"), try await Self.body(site, generation: "another"),
            ] { #expect(try await Self.edit(other, filter) != [1]) }
            #expect(
                try await Self.edit(body, Self.filter(site)) == text, "files that another one has noted are not known")
        }
    }

    @Test("a text is known before its body is read, if it was written for an earlier request")
    func known() async throws {
        try await Site.run { site async throws in
            site.publish(Site.list(["/1.ts"], type: "VOD", ended: true), at: "/list.m3u8")
            let filter = Self.filter(site)
            var body = try await Self.body(site)
            let editor = try #require(filter.editor(of: body.information, at: body.url))
            #expect(editor.known(body) == nil)
            let text = try await editor.edit(body)
            body.bytes = []
            #expect(text != nil && editor.known(body) == text)
            body.isWithoutOrigin = true
            #expect(editor.known(body) == nil, "then it has stored files only")
            // Responses that are not stored are known by their bytes alone.
            #expect(editor.known(try await Self.body(site, bytes: [], generation: "")) == nil)
        }
    }

    @Test("responses that are not stored are told apart by their bytes")
    func unstored() async throws {
        try await Site.run { site async throws in
            site.publish(Site.list(["/1.ts"], type: "VOD", ended: true), at: "/list.m3u8")
            let (one, other) = (
                try await Self.body(site, bytes: [1], generation: ""),
                try await Self.body(site, bytes: [2], generation: "")
            )
            #expect(WrittenTexts.Key(one) != WrittenTexts.Key(other))
        }
    }

    @Test("a playlist whose variables others import is read each time")
    func parents() async throws {
        try await Site.run { site async throws in
            let parent = "#EXTM3U\n#EXT-X-DEFINE:NAME=\"a\",VALUE=\"1\"\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n"
            site.publish(parent, at: "/list.m3u8")
            let filter = Self.filter(site)
            let body = try await Self.body(site)
            _ = try await Self.edit(body, filter)
            #expect(filter.texts.text(for: WrittenTexts.Key(body), imported: nil) == nil)
        }
    }

    @Test("texts are few and small, and other variables are another text")
    func bounds() async throws {
        try await Site.run { site async throws in
            site.publish(Site.list(["1.ts"]), at: "/list.m3u8")
            let body = try await Self.body(site)
            var keys: [WrittenTexts.Key] = []
            for byte in 0..<100 { keys.append(WrittenTexts.Key(try await Self.body(site, generation: "\(byte)"))) }
            func text(_ count: Int) -> WrittenTexts.Text {
                WrittenTexts.Text(
                    bytes: [UInt8](repeating: 0, count: count), role: .init(.playlist, for: .media), imported: nil)
            }
            let few = WrittenTexts()
            for key in keys { few.keep(text(1), for: key) }
            #expect(keys.map { few.text(for: $0, imported: nil) != nil } == (0..<100).map { $0 >= 36 })
            #expect(few.text(for: keys[99], imported: Variables()) == nil)
            let small = WrittenTexts(maximumBytes: 100)
            for key in keys[..<10] { small.keep(text(25), for: key) }
            #expect(keys[..<10].map { small.text(for: $0, imported: nil) != nil } == (0..<10).map { $0 >= 6 })
            small.keep(text(26), for: WrittenTexts.Key(body))
            #expect(small.text(for: WrittenTexts.Key(body), imported: nil) == nil)
            #expect(small.text(for: keys[9], imported: nil) != nil)
        }
    }
}
