import Playlists
import Reprise
import TestSupport
import Testing

@testable import RepriseProxy

@Suite("What playlists say of the live edge") struct LiveEdgeTests {
    private static let base = "https://cdn.example/live/list.m3u8"

    private func note(_ text: String, in edge: LiveEdge, url: String = base) throws {
        let list = try HLSPlaylist(Array(text.utf8))
        edge.note(list, of: try ResourceURL(url), from: URIReference(Self.base))
    }

    private static func text(parts: String...) -> String {
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-PART-INF:PART-TARGET=0.3\n"
            + parts.map { "#EXT-X-PART:DURATION=0.3,URI=\"\($0)\"\n" }.joined()
            + "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"next.mp4\"\n"
    }

    @Test func partsAndHintsArePlaces() throws {
        let edge = LiveEdge(clock: ShiftableClock().cacheClock)
        try note(Self.text(parts: "1.mp4", "https://other.example/2.mp4"), in: edge)
        let place = LiveEdge.Place(targetDuration: .seconds(4), isHint: false)
        #expect(edge.place(of: try ResourceURL("https://cdn.example/live/1.mp4")) == place)
        #expect(edge.place(of: try ResourceURL("https://other.example/2.mp4")) == place)
        #expect(edge.place(of: try ResourceURL("https://cdn.example/live/next.mp4"))?.isHint == true)
        #expect(edge.place(of: try ResourceURL("https://cdn.example/live/other.mp4")) == nil)
        let blocking = try ResourceURL(Self.base + "?_HLS_msn=3")
        #expect(edge.targetDuration(of: blocking) == .seconds(4))
    }

    @Test func placesAreForgottenAfterSixTargetDurations() throws {
        let clock = ShiftableClock()
        let edge = LiveEdge(clock: clock.cacheClock)
        try note(Self.text(parts: "1.mp4"), in: edge)
        clock.shift(by: .seconds(20))
        try note(Self.text(parts: "2.mp4"), in: edge)
        clock.shift(by: .seconds(5))
        #expect(edge.place(of: try ResourceURL("https://cdn.example/live/1.mp4")) == nil)
        #expect(edge.place(of: try ResourceURL("https://cdn.example/live/2.mp4")) != nil)
    }

    @Test("A part whose list has it as a segment is complete, whether that list still has parts or not")
    func listedSegmentsAreComplete() throws {
        let edge = LiveEdge(clock: ShiftableClock().cacheClock)
        try note(Self.text(parts: "1.mp4"), in: edge)
        try note("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n1.mp4\n#EXT-X-ENDLIST\n", in: edge)
        #expect(edge.place(of: try ResourceURL("https://cdn.example/live/1.mp4")) == nil)
    }

    @Test func memoryIsBounded() throws {
        let edge = LiveEdge(clock: ShiftableClock().cacheClock, maximumBytes: 2000)
        for number in 0..<1000 { try note(Self.text(parts: "\(number).mp4"), in: edge) }
        #expect(edge.place(of: try ResourceURL("https://cdn.example/live/0.mp4")) == nil)
        #expect(edge.place(of: try ResourceURL("https://cdn.example/live/999.mp4")) != nil)
    }

    @Test func listsWithoutPartsHaveNoPlaces() throws {
        let edge = LiveEdge(clock: ShiftableClock().cacheClock)
        try note("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n1.ts\n", in: edge)
        #expect(edge.place(of: try ResourceURL("https://cdn.example/live/1.ts")) == nil)
        #expect(edge.targetDuration(of: try ResourceURL(Self.base)) == nil)
    }

    @Test("Oversized numbers trap nothing", arguments: ["1e300", "99999999999999999999", "-1", "nan"])
    func oddTargetDurations(_ number: String) throws {
        let edge = LiveEdge(clock: ShiftableClock().cacheClock)
        try note(Self.text(parts: "1.mp4").replacing("DURATION:4", with: "DURATION:\(number)"), in: edge)
        _ = edge.place(of: try ResourceURL("https://cdn.example/live/1.mp4"))
    }

    @Test(
        "The URL without directives keeps the rest letter for letter",
        arguments: [
            ("/l.m3u8?_HLS_msn=5&_HLS_part=2", "/l.m3u8"), ("/l.m3u8?b=%2f&_HLS_msn=5&a=", "/l.m3u8?b=%2f&a="),
            ("/l.m3u8?_HLS_x=1", "/l.m3u8"), ("/l.m3u8?", "/l.m3u8?"), ("/_HLS_msn=1", "/_HLS_msn=1"),
        ])
    func withoutDirectives(target: String, expected: String) throws {
        let url = try ResourceURL("https://cdn.example\(target)")
        #expect(url.withoutDirectives.target == expected)
        #expect(url.hasDeliveryDirectives == target.contains(/\?.*_HLS_msn/))
    }
}
