import Playlists
import Reprise
import Testing

@testable import RepriseProxy

/// Which files belong to the title of a cast.
@Suite struct CastScopeTests {
    private static let film = "https://a.example/film/main.m3u8"

    private static func scope(_ url: String = film) throws -> CastScope { CastScope(try ResourceURL(url)) }

    private static func note(_ text: String, at url: String, in scope: CastScope, found: String? = nil) throws {
        let document = URIReference(found ?? url)
        let context = HLSContext(url: document)
        let playlist = try Playlist(Array(text.utf8), context: context, limits: PlaylistLimits())
        scope.note(playlist, at: try ResourceURL(url), document: document)
    }

    private static func contains(_ scope: CastScope, _ url: String) throws -> Bool {
        scope.contains(try ResourceURL(url))
    }

    @Test func theTitleAloneBelongsToItAtFirst() throws {
        let scope = try Self.scope()
        #expect(try Self.contains(scope, Self.film))
        #expect(try Self.contains(scope, Self.film + "?_HLS_msn=7&_HLS_part=1"), "a version of the playlist")
        for other in ["main.m3u8?a=1", "v0.m3u8", "", "../film/main.m3u8x"] {
            #expect(try !Self.contains(scope, "https://a.example/film/" + other), "\(other)")
        }
        #expect(try !Self.contains(scope, "http://a.example/film/main.m3u8"))
    }

    @Test func whatItsPlaylistsNameBelongsToIt() throws {
        let scope = try Self.scope()
        try Self.note("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv0.m3u8\n", at: Self.film, in: scope)
        #expect(try Self.contains(scope, "https://a.example/film/v0.m3u8?_HLS_msn=3"))
        #expect(try !Self.contains(scope, "https://a.example/film/s0.mp4"))
        let list = """
            #EXTM3U
            #EXT-X-TARGETDURATION:6
            #EXT-X-KEY:METHOD=AES-128,URI="https://k.example/key"
            #EXT-X-MAP:URI="m0.mp4"
            #EXTINF:6,
            s0.mp4
            """
        try Self.note(
            list, at: "https://a.example/film/v0.m3u8", in: scope, found: "https://b.example/moved/v0.m3u8")
        for url in ["https://b.example/moved/s0.mp4", "https://b.example/moved/m0.mp4", "https://k.example/key"] {
            #expect(try Self.contains(scope, url), "\(url)")
        }
        #expect(try !Self.contains(scope, "https://a.example/film/s0.mp4"), "links refer to where it was found")
        #expect(try !Self.contains(scope, "https://b.example/moved/s1.mp4"))
    }

    @Test("RFC 8216 §6.2.2: a segment that has left the list is served for as many versions as the list has segments")
    func segmentsThatHaveLeft() throws {
        let scope = try Self.scope()
        func served() throws -> [Int] {
            try (0..<12).filter { try Self.contains(scope, "https://a.example/film/s\($0).ts") }
        }
        for start in 0..<6 {
            let segments = (start..<start + 3).map { "#EXTINF:6,\ns\($0).ts\n" }.joined()
            // Once more as it is, such as under another validator.
            for _ in 0..<2 { try Self.note("#EXTM3U\n#EXT-X-TARGETDURATION:6\n" + segments, at: Self.film, in: scope) }
            let now = try served()
            #expect(now == Array(max(0, start - 4)..<start + 3))
        }
    }

    @Test("a playlist that is hostile, or was altered on its way, opens neither this machine nor its network")
    func addressesOfOthers() throws {
        let own = "http://192.168.1.5:8096/film/main.m3u8"
        let scope = try Self.scope(own)
        let others = [
            "http://127.0.0.1:9000/x", "http://localhost/x", "http://a.localhost/x", "http://192.168.1.1/admin",
            "http://2130706433/x", "http://0x7f000001/x", "http://[::1]/x", "http://169.254.169.254/latest",
        ]
        let links = (others + ["http://192.168.1.5/s0.mp4", "http://cdn.example/s1.mp4"]).map { "#EXTINF:6,\n\($0)\n" }
        try Self.note("#EXTM3U\n#EXT-X-TARGETDURATION:6\n" + links.joined(), at: own, in: scope)
        for url in others { #expect(try !Self.contains(scope, url), "\(url)") }
        #expect(
            try Self.contains(scope, "http://192.168.1.5/s0.mp4") && Self.contains(scope, "http://cdn.example/s1.mp4"))

        let mpd = """
            <MPD><Period><AdaptationSet><SegmentTemplate media="http://$RepresentationID$/$RepresentationID$"/>
            <Representation id="a" bandwidth="1"/></AdaptationSet></Period></MPD>
            """
        let dash = try Self.scope("http://a.example/film.mpd")
        try Self.note(mpd, at: "http://a.example/film.mpd", in: dash)
        for url in ["http://192.168.1.1/admin", "http://b.example/x"] {
            #expect(try !Self.contains(dash, url), "\(url)")
        }
    }

    @Test func segmentsThatLeftALiveListLongAgoAreGone() throws {
        let scope = try Self.scope()
        for first in 0..<4 {
            let list = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:\(first)\n#EXTINF:6,\ns\(first).mp4\n"
            try Self.note(list, at: Self.film, in: scope)
        }
        #expect(try !Self.contains(scope, "https://a.example/film/s0.mp4"))
        #expect(try Self.contains(scope, "https://a.example/film/s1.mp4"))
        #expect(try Self.contains(scope, "https://a.example/film/s2.mp4"))
        #expect(try Self.contains(scope, "https://a.example/film/s3.mp4"))
    }

    @Test func foldersOfAnMPDDoNotBelongToIt() throws {
        let scope = try Self.scope("https://a.example/film/main.mpd")
        let text = """
            <?xml version="1.0"?>
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"><BaseURL>media/</BaseURL><Period>
            <AdaptationSet mimeType="video/mp4"><SegmentTemplate media="$RepresentationID$-$Number%03d$.m4s"
             initialization="$RepresentationID$.mp4" duration="4"/>
            <Representation id="v" bandwidth="1"/></AdaptationSet></Period></MPD>
            """
        let document = URIReference("https://a.example/film/main.mpd")
        let context = HLSContext(url: document)
        let playlist = try Playlist(Array(text.utf8), context: context, limits: PlaylistLimits())
        scope.note(playlist, at: try ResourceURL(document.text), document: document)
        #expect(try Self.contains(scope, "https://a.example/film/media/v-001.m4s"))
        #expect(try Self.contains(scope, "https://a.example/film/media/v.mp4"))
        for other in ["media/", "media/v-x.m4s", "media/a/v-001.m4s", "media/v-001.m4s?x=1", "v-001.m4s"] {
            #expect(try !Self.contains(scope, "https://a.example/film/" + other), "\(other)")
        }
    }
}

/// ISO/IEC 23009-1 §5.3.9.4.4.
@Suite struct FileTemplateTests {
    @Test(arguments: [
        ("a/$Number$.m4s", "a/12.m4s", true), ("a/$Number$.m4s", "a/.m4s", false),
        ("a/$Number$.m4s", "a/1x.m4s", false),
        ("$RepresentationID$/$Time$", "v 1/90000", true), ("$RepresentationID$/$Time$", "v/w/90000", false),
        ("$Number%05d$-$Bandwidth$", "00012-500", true), ("$Number$$Number$", "1", false),
        ("$Number$$Number$", "12", true),
        ("a$$b-$Number$", "a$b-1", true), ("a$$b-$Number$", "ab-1", false),
        ("$RepresentationID$?t=$Time$", "v?t=1", true), ("$RepresentationID$", "v?t=1", false),
        ("$RepresentationID$", "v%2f..", false),
    ]) func matchesWhatItStandsFor(_ template: String, _ url: String, _ fits: Bool) throws {
        let template = try #require(FileTemplate(template))
        #expect(template.matches(url) == fits)
    }

    @Test(arguments: ["a.m4s", "$Number", "$Unknown$", "a$Number$b$"]) func othersAreNone(_ text: String) {
        #expect(FileTemplate(text) == nil)
    }

    @Test func manyPiecesTakeNoLonger() throws {
        let text = String(repeating: "$RepresentationID$a", count: 15)
        let template = try #require(FileTemplate(text))
        #expect(!template.matches(String(repeating: "a", count: 4000) + "b"))
    }
}

@Suite struct NetworkInterfaceTests {
    private static func interface(_ name: String, _ address: String, _ isPointToPoint: Bool = false) throws
        -> NetworkInterface
    {
        NetworkInterface(name: name, address: try #require(IPv4Address(address)), isPointToPoint: isPointToPoint)
    }

    @Test func wiFiAndCablesComeFirst() throws {
        let interfaces = [
            try Self.interface("utun3", "10.8.0.2", true), try Self.interface("pdp_ip0", "10.90.1.2", true),
            try Self.interface("bridge100", "172.20.10.1"), try Self.interface("en1", "192.168.1.7"),
            try Self.interface("en0", "192.168.1.6"),
        ]
        #expect(NetworkInterface.localAddress(among: interfaces)?.description == "192.168.1.6")
        #expect(NetworkInterface.localAddress(among: Array(interfaces.prefix(3)))?.description == "172.20.10.1")
        #expect(NetworkInterface.localAddress(among: Array(interfaces.prefix(2))) == nil)
    }

    @Test func theInterfaceOfTheDefaultRouteComesBeforeOthers() throws {
        let interfaces = [
            try Self.interface("en0", "192.168.1.6"), try Self.interface("en7", "172.16.0.9"),
            try Self.interface("utun3", "10.8.0.2", true),
        ]
        func address(_ routed: String) -> String? {
            NetworkInterface.localAddress(among: interfaces, routed: IPv4Address(routed))?.description
        }
        #expect(address("172.16.0.9") == "172.16.0.9")
        #expect(address("10.8.0.2") == "192.168.1.6", "a tunnel leads to no local network")
        #expect(address("203.0.113.5") == "192.168.1.6")
    }

    @Test(arguments: ["8.8.8.8", "172.32.0.1", "172.15.0.1", "192.169.0.1", "11.0.0.1", "169.254.1.1", "127.0.0.1"])
    func noOtherNetworkCounts(_ address: String) throws {
        let interfaces = [try Self.interface("en0", address)]
        #expect(NetworkInterface.localAddress(among: interfaces) == nil)
    }

    @Test func addressesAreRead() {
        #expect(IPv4Address("192.168.1.20")?.description == "192.168.1.20")
        for text in ["192.168.1", "192.168.1.256", "host", "", "::1", "192.168.1.20 "] {
            #expect(IPv4Address(text) == nil, "\(text)")
        }
    }
}

@Suite struct PeerPlacesTests {
    @Test func oneDeviceTakesNoOthersPlaces() {
        let places = PeerPlaces(limit: 2)
        let (first, second) = (IPv4Address(bits: 1), IPv4Address(bits: 2))
        let taken = [places.take(first), places.take(first), places.take(first), places.take(second)]
        #expect(taken == [true, true, false, true])
        places.release(first)
        let again = [places.take(first), places.take(first)]
        #expect(again == [true, false])
    }
}
