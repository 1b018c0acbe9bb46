import Foundation
import Reprise
import Testing
@testable import RepriseAVPlayer

@Suite struct SourceURLTests {
    private func source(_ text: String) throws -> SourceURL { SourceURL(try #require(URL(string: text))) }

    @Test func mediaGoesThroughTheCacheUnderASchemeOfRFC3986() throws {
        let text = "https://cdn.example.com:8443/a%20b/film.mp4?Signature=a%2Fb+c%3D%3D&x"
        guard case .cached(let resource, let loader) = try source(text) else {
            Issue.record("not cached")
            return
        }
        #expect(resource.description == text)
        #expect(loader.absoluteString == "reprise+" + text)
        #expect(loader.pathExtension == "mp4")
        // RFC 3986 §3.1: ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
        let scheme = try #require(loader.scheme)
        #expect(scheme.wholeMatch(of: /[a-z][a-z0-9+.\-]*/) != nil)
        #expect(SourceURL.original(of: loader)?.absoluteString == text)
    }

    @Test(arguments: [
        "file:///tmp/film.mp4", "https://user:secret@example.com/live.m3u8", "data:audio/mpeg,x",
        "ipod-library://item/item.mp3", "https://user:secret@example.com/film.mp4", "film.mp4",
    ]) func othersArePlayedDirectly(_ text: String) throws {
        #expect(try source(text) == .direct)
    }

    @Test(arguments: [
        ("https://example.com/live.m3u8", nil), ("https://example.com/live.M3U8?a=1", nil),
        ("https://example.com/play?id=1", "m3u8"), ("https://example.com/play?id=1", "public.m3u-playlist"),
        ("https://example.com/play?id=1", "application/vnd.apple.mpegurl"), ("https://a.example/x", "audio/mpegurl"),
    ]) func streamsGoThroughTheProxy(_ text: String, _ fileType: String?) throws {
        let url = try #require(URL(string: text))
        #expect(SourceURL(url, fileType: fileType) == .stream(try ResourceURL(text)))
    }

    @Test func theAppKnowsBetterThanTheExtension() throws {
        let url = try #require(URL(string: "https://example.com/film.m3u8"))
        guard case .cached = SourceURL(url, fileType: "public.mpeg-4") else {
            Issue.record("not a file")
            return
        }
    }

    @Test func fairPlayKeysAreRefused() throws {
        guard case .refused(let reason) = try source("skd://key/1") else {
            Issue.record("not refused")
            return
        }
        #expect(reason.contains("FairPlay"))
    }

    @Test func otherSchemesHaveNoOriginal() throws {
        #expect(SourceURL.original(of: try #require(URL(string: "https://example.com/"))) == nil)
    }
}
