import Playlists
import Reprise
import RepriseTesting
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
        func file(_ url: String) throws -> ListedFile? { files.find(try ResourceURL(url)).file }
        #expect(try file("http://origin/init.mp4") == .stored(.liveSegment))
        var numbered = StreamRole.liveSegment
        numbered.sequence = 0
        #expect(try file("http://origin/1.mp4") == .stored(numbered))
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
        #expect(files.find(url).file == .stored(.endedSegment))
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
        #expect(files.find(try ResourceURL("http://origin/1.ts")).file == nil)
        #expect(files.find(try ResourceURL("http://origin/2.ts")).file != nil)
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
        #expect(files.find(try ResourceURL("http://origin/0.ts")).file == nil)
        #expect(files.find(try ResourceURL("http://origin/9.ts")).file != nil)
    }

    // MARK: - Cost

    private static func media(_ names: some Sequence<String>, ended: Bool = true) -> String {
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + names.map { "#EXTINF:4,\n\($0)\n" }.joined()
            + (ended ? "#EXT-X-ENDLIST\n" : "")
    }

    private static func mpd(_ templates: some Sequence<String>) -> String {
        let representations = templates.map { "<Representation><SegmentTemplate media='\($0)'/></Representation>" }
        return "<MPD><Period><AdaptationSet>\(representations.joined())</AdaptationSet></Period></MPD>"
    }

    @Test("many patterns for one file don't make it slow")
    func overlappingPatterns() throws {
        let files = ListedFiles()
        let url = "http://origin/" + String(repeating: "a", count: 80) + "xxxxxxxx"
        for number in 0..<20 {
            let templates = (0..<60).flatMap { length in
                (1...8).map { String(repeating: "a", count: length) + "$Number$" + String(repeating: "x", count: $0) }
            }
            _ = files.note(
                try Self.listing(Self.mpd(templates.shuffled().prefix(64)), at: "http://origin/\(number).mpd"))
        }
        let before = files.steps
        #expect(files.find(try ResourceURL(url)).file != nil)
        #expect(files.steps - before < 200)
    }

    @Test("a look-up costs the same, however many lists and patterns there are")
    func steps() throws {
        let files = ListedFiles()
        func steps(_ url: String) throws -> Int {
            let before = files.steps
            _ = files.find(try ResourceURL(url))
            return files.steps - before
        }
        _ = files.note(try Self.listing(Self.media(["1.ts"]), at: "http://origin/film/list.m3u8"))
        for number in 0..<300 {
            let templates = (0..<40).map { "\(100 + number)-\(10 + $0)-$Number$.m4s" }
            _ = files.note(try Self.listing(Self.mpd(templates), at: "http://origin/\(number).mpd"))
            _ = files.note(try Self.listing(Self.media(["\(number).ts"]), at: "http://origin/\(number).m3u8"))
        }
        #expect(files.find(try ResourceURL("http://origin/399-10-7.m4s")).file == .stored(.endedSegment))
        // A list that names it, and one length of prefixes; one pattern with that prefix.
        #expect(try steps("http://origin/299.ts") == 1)
        #expect(try steps("http://origin/none.mp4") <= 1)
        #expect(try steps("http://origin/399-10-7.m4s") == 2)
        #expect(try steps("http://other.example/film.mp4") <= 1)
    }

    @Test("a file that very many lists name is looked up in the newest of them, and stays a key")
    func ownersAreBounded() throws {
        let files = ListedFiles()
        let url = try ResourceURL("http://origin/1.ts")
        let key = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-KEY:METHOD=AES-128,URI=\"1.ts\"\n#EXTINF:4,\n2.ts\n"
        _ = files.note(try Self.listing(key, at: "http://origin/key.m3u8"))
        for number in 0..<200 {
            let live = Self.media(["1.ts"], ended: false)
            _ = files.note(try Self.listing(live, at: "http://origin/\(number).m3u8"))
            _ = files.note(try Self.listing(Self.mpd(["1.\(number)$Number$.m4s"]), at: "http://origin/\(number).mpd"))
            _ = files.note(try Self.listing(Self.mpd(["x$Number$\(number)"]), at: "http://origin/\(number)x.mpd"))
        }
        let before = files.steps
        #expect(files.find(url).file == .key)
        #expect(files.steps - before <= ListingNumbers.most + 4)
        let again = files.steps
        #expect(files.find(try ResourceURL("http://origin/x1199")).file != nil)
        #expect(files.steps - again <= 20)
    }

    @Test("patterns weigh more than files, and the number of lists is bounded, too")
    func weights() throws {
        let patterns = ListedFiles(capacity: 200)
        for number in 0..<10 {
            _ = patterns.note(try Self.listing(Self.mpd(["\(number)-$Number$.m4s"]), at: "http://origin/\(number).mpd"))
        }
        #expect(patterns.find(try ResourceURL("http://origin/3-1.m4s")).file == nil)
        #expect(patterns.find(try ResourceURL("http://origin/4-1.m4s")).file != nil, "six lists of 32")
        let lists = ListedFiles(mostListings: 3)
        for number in 0..<5 {
            _ = lists.note(try Self.listing(Self.media(["\(number).ts"]), at: "http://origin/\(number).m3u8"))
        }
        #expect(
            try (0..<5).map { lists.find(try ResourceURL("http://origin/\($0).ts")).file != nil }.filter { $0 }.count
                == 3)
    }

    @Test("a pattern whose host may vary stands for nothing, and a list of another host costs nothing")
    func hosts() throws {
        let files = ListedFiles()
        _ = files.note(try Self.listing(Self.mpd(["http://$Number$.origin/", "http://a$Number$/b", "http:$Time$"])))
        #expect(files.find(try ResourceURL("http://1.origin/")).file == nil)
        #expect(files.find(try ResourceURL("http://a1/b")).file == nil)
    }

    @Test("what is found is what a walk over all lists finds", arguments: [UInt64(1), 2, 3, 4, 5, 6, 7, 8])
    func model(seed: UInt64) throws {
        struct Noted {
            let name: String
            let listing: Listing
        }
        var random = SeededGenerator(seed: seed)
        let files = ListedFiles(capacity: 600)
        var model: [Noted] = []
        let urls = try ["1.ts", "2.ts", "a-1.m4s", "a-2.mp4", "ab-1.m4s", "k"].map {
            try ResourceURL("http://origin/\($0)")
        }
        for step in 0..<300 {
            let name = "http://origin/\(Int.random(in: 0..<12, using: &random))"
            let names = ["1.ts", "2.ts", "k"].filter { _ in Bool.random(using: &random) }
            let text: String
            if Bool.random(using: &random) {
                let templates = ["a-$Number$.m4s", "a$Number$", "ab-$Time$.m4s", "$Number$.mp4"]
                text = Self.mpd(templates.filter { _ in Bool.random(using: &random) })
            } else {
                let list = Self.media(names, ended: Bool.random(using: &random))
                text =
                    Bool.random(using: &random)
                    ? list : list.replacing("#EXTM3U\n", with: "#EXTM3U\n#EXT-X-KEY:METHOD=AES-128,URI=\"k\"\n")
            }
            let listing = try Self.listing(text, at: name)
            _ = files.note(listing)
            model.removeAll { $0.name == name }
            model.append(Noted(name: name, listing: listing))
            while model.reduce(0, { $0 + $1.listing.weight }) > 600 { model.removeFirst() }
            for url in urls {
                let found = model.compactMap { noted -> ListedFile? in
                    let text = url.description
                    let own = noted.listing.files[text.hashValue].flatMap { noted.listing.file($0, at: text) }
                    let isPattern = noted.listing.patterns.contains { $0.matches(text) }
                    return own == .key ? own : isPattern ? noted.listing.file(.file, at: text) : own
                }
                let firm = found.last(where: \.isFirm)
                #expect(files.find(url).file == firm ?? found.last, "step \(step), \(url)")
            }
        }
    }
}
