import TestLimits
import Testing

@testable import MediaTiming

/// What maps say of their tracks.
@Suite(.limit(minutes: 1)) struct TrackDescriptionTests {
    /// A track with one sample entry (ISO/IEC 14496-12 §8.5.2).
    private static func trak(_ handler: String, _ entry: [UInt8], header: [UInt8] = []) -> [UInt8] {
        let hdlr = box("hdlr", big(0), big(0), Array(handler.utf8), [UInt8](repeating: 0, count: 13))
        let stsd = box("stsd", big(0), big(1), entry)
        return box("trak", header, box("mdia", hdlr, box("minf", box("stbl", stsd))))
    }

    private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    private static let picture = trak(
        "vide", box("avc1", zeros(24), big(640, 2), big(360, 2), zeros(50)))
    private static let sound = trak(
        "soun", box("mp4a", zeros(16), big(2, 2), big(16, 2), zeros(4), big(44_100 << 16), box("esds", zeros(4))))

    @Test("pictures have a size, sound has a rate and channels (ISO/IEC 14496-12 §12.1.3, §12.2.3)")
    func tracks() throws {
        let text = Self.trak("sbtl", box("tx3g", Self.zeros(8)), header: box("tkhd", [0, 0, 0, 3], Self.zeros(80)))
        let map = box("ftyp", Array("iso5".utf8)) + box("moov", Self.picture, Self.sound, text) + box("free")
        let tracks = try #require(TrackDescription.tracks(in: map))
        #expect(tracks.map(\.kind) == [.video, .audio, .subtitles])
        let flags = tracks.map { $0.flags.map { map[$0] } }
        #expect(flags == [nil, nil, 3])
        #expect(tracks.map(\.codec) == ["avc1", "mp4a", "tx3g"])
        #expect(tracks.map(\.width) == [640, 0, 0] && tracks.map(\.height) == [360, 0, 0])
        #expect(tracks.map(\.samplingRate) == [0, 44_100, 0] && tracks.map(\.channels) == [0, 2, 0])
    }

    @Test("what is cut, encrypted or no movie has no tracks")
    func unreadable() {
        let map = box("moov", Self.picture)
        for count in 0..<map.count - 50 {
            let tracks = TrackDescription.tracks(in: Array(map.prefix(count)))
            #expect(tracks?.isEmpty ?? true, "\(count) bytes")
        }
        #expect(TrackDescription.tracks(in: filler(1000)) == nil)
        #expect(TrackDescription.tracks(in: box("moov", box("trak", box("mdia")))) == nil)
    }
}
