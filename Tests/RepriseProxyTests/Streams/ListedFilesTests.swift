import Playlists
import Reprise
import Testing

@testable import RepriseProxy

/// The files that playlists list, without a proxy.
@Suite struct ListedFilesTests {
    private static func listing(
        _ text: String, at url: String = "http://origin/list.m3u8", generation: String = ""
    ) throws -> Listing {
        let playlist = try Playlist(Array(text.utf8))
        var urls: [ResourceURL] = []
        return Listing(
            playlist, named: try ResourceURL(url).withoutDirectives.description, generation: generation,
            document: URIReference(url), in: [], urls: &urls)
    }

    @Test func linksHaveTheirRules() throws {
        let files = ListedFiles()
        let text = """
            #EXTM3U
            #EXT-X-TARGETDURATION:4
            #EXT-X-MAP:URI="init.mp4"
            #EXT-X-KEY:METHOD=AES-128,URI="https://KEYS.example:443/k"
            #EXT-X-PART:DURATION=1,URI="part.mp4"
            #EXT-X-PART:DURATION=1,URI="grows.mp4",BYTERANGE="10@0"
            #EXT-X-PART:DURATION=1,URI="1.mp4",BYTERANGE="10@0"
            #EXTINF:4,
            1.mp4#fragment

            """
        #expect(files.note(try Self.listing(text)) == nil)
        func file(_ url: String) throws -> ListedFile? { files.file(at: try ResourceURL(url)) }
        #expect(try file("http://origin/init.mp4") == .stored(.liveSegment))
        #expect(try file("http://origin/1.mp4") == .stored(.liveSegment))
        #expect(try file("http://origin/part.mp4") == .stored(.liveSegment))
        #expect(try file("http://origin/grows.mp4") == .growing)
        #expect(try file("https://keys.example/k") == .key)
        #expect(try file("http://origin/2.mp4") == nil)
    }

    @Test func aListThatHasEndedIsBelievedFirst() throws {
        let files = ListedFiles()
        let url = try ResourceURL("http://origin/1.ts")
        let ended = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n1.ts\n#EXT-X-ENDLIST\n"
        let live = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n1.ts\n"
        _ = files.note(try Self.listing(ended, at: "http://origin/ended.m3u8"))
        _ = files.note(try Self.listing(live, at: "http://origin/live.m3u8"))
        #expect(files.file(at: url) == .stored(.endedSegment))
    }

    @Test func aListTakesThePlaceOfItsEarlierVersion() throws {
        let files = ListedFiles()
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-MEDIA-SEQUENCE:7\n#EXTINF:4,\n1.ts\n"
        _ = files.note(try Self.listing(text, at: "http://origin/list.m3u8?a=1&_HLS_msn=8", generation: "g"))
        #expect(files.knows("http://origin/list.m3u8?a=1", generation: "g"))
        #expect(!files.knows("http://origin/list.m3u8?a=1", generation: "h"))
        #expect(!files.knows("http://origin/list.m3u8?a=2", generation: "g"))
        let former = files.note(
            try Self.listing(text.replacing("1.ts", with: "2.ts"), at: "http://origin/list.m3u8?a=1"))
        #expect(former?.sequence == 7)
        #expect(former?.nextSequence == 8)
        #expect(files.file(at: try ResourceURL("http://origin/1.ts")) == nil)
        #expect(files.file(at: try ResourceURL("http://origin/2.ts")) != nil)
    }

    @Test(
        "a list whose queries alone changed is the same list",
        arguments: [
            ("1.ts?t=2", true), ("1.ts?t=1", false), ("2.ts?t=2", false), ("1.ts", true), ("https://b/1.ts?t=2", false),
        ])
    func queriesAlone(segment: String, isSame: Bool) throws {
        func list(_ segment: String) throws -> Listing {
            try Self.listing(
                "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n\(segment)\n#EXTINF:4,\n3.ts\n#EXT-X-ENDLIST\n")
        }
        #expect(try list(segment).differsInQueriesOnly(from: try list("1.ts?t=1")) == isSame)
    }

    @Test func theOldestListsGo() throws {
        let files = ListedFiles(capacity: 100)
        for number in 0..<10 {
            let text = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n\(number).ts\n"
            _ = files.note(try Self.listing(text, at: "http://origin/\(number).m3u8"))
        }
        #expect(files.file(at: try ResourceURL("http://origin/0.ts")) == nil)
        #expect(files.file(at: try ResourceURL("http://origin/9.ts")) != nil)
    }
}
