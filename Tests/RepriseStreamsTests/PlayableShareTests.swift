import ByteRanges
import Playlists
import TestLimits
import Testing

@testable import RepriseStreams

@Suite("The stored share of what plays together", .limit(minutes: 1)) struct PlayableShareTests {
    /// The share of a multivariant playlist with these lines, by the shares of the playlists that it names.
    private static func share(_ lines: [String], _ shares: [String: Double]) throws -> Double? {
        let text = (["#EXTM3U"] + lines + [""]).joined(separator: "\n")
        let list = try HLSPlaylist(Array(text.utf8))
        let playlist = list.multivariant
        return PlayableShare.best(of: playlist.variants, with: playlist.renditions) { link in
            guard case .fetchable(let target) = list.target(of: list.links[link], base: URIReference("http://a/"))
            else {
                return nil
            }
            return shares[String(target.text.split(separator: "/").last ?? "")]
        }
    }

    private static let sound = [
        "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"English\",URI=\"en\"",
        "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"a\",NAME=\"Deutsch\",URI=\"de\"",
        "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"b\",NAME=\"English\",URI=\"other\"",
        "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"a\",NAME=\"English\",URI=\"text\"",
    ]
    private static func variant(_ name: String, _ attributes: String = "") -> [String] {
        ["#EXT-X-STREAM-INF:BANDWIDTH=1\(attributes)", name]
    }

    @Test(
        "of HLS, a variant with one rendition of the sound that belongs to it",
        arguments: [
            (["high": 1.0, "en": 0.5], 0.75), (["high": 1, "en": 0.5, "de": 1], 1), (["high": 1], 0.5),
            (["high": 1, "other": 1, "text": 1], 0.5), (["low": 1, "en": 1, "high": 0.5], 1), (["en": 1], 0.5),
            (["text": 1, "other": 1], nil),
        ] as [([String: Double], Double?)])
    func apart(shares: [String: Double], share: Double?) throws {
        let lines = Self.sound + Self.variant("high", ",AUDIO=\"a\"") + Self.variant("low", ",AUDIO=\"a\"")
        #expect(try Self.share(lines, shares) == share)
    }

    @Test("sound inside of the variant, also as a rendition without a playlist or as a group that is not there")
    func inside() throws {
        let member = "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"m\",NAME=\"English\",DEFAULT=YES"
        let other = "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"m\",NAME=\"Deutsch\",URI=\"de\""
        for attributes in ["", ",AUDIO=\"m\"", ",AUDIO=\"missing\""] {
            let lines = [member, other] + Self.sound + Self.variant("high", attributes)
            #expect(try Self.share(lines, ["high": 1]) == 1, "\(attributes)")
            #expect(try Self.share(lines, ["high": 0.5]) == 0.5, "\(attributes)")
        }
    }

    @Test("a picture that comes from a group, too, needs no playlist of the variant itself")
    func pictureApart() throws {
        let picture = "#EXT-X-MEDIA:TYPE=VIDEO,GROUP-ID=\"v\",NAME=\"Left\",URI=\"left\""
        let lines = [picture] + Self.sound + Self.variant("high", ",AUDIO=\"a\",VIDEO=\"v\"")
        #expect(try Self.share(lines, ["left": 1, "en": 1]) == 1)
        #expect(try Self.share(lines, ["left": 1, "high": 1]) == 0.5)
    }

    private static func period(_ tracks: [(StreamTrack.Kind, stored: Int64, of: Int64)]) -> PlayableShare.Period {
        var period = PlayableShare.Period()
        for (kind, stored, duration) in tracks {
            var track = StreamTrack(kind)
            (track.isListed, track.duration) = (true, duration)
            if stored > 0 { track.stored.insert(0..<stored) }
            period.note(track)
        }
        return period
    }

    @Test(
        "of DASH, a picture and a sound of every period",
        arguments: [
            ([(.video, 10, 10), (.audio, 5, 10)], 0.75),
            ([(.video, 10, 10), (.video, 0, 10), (.audio, 5, 10), (.audio, 10, 10), (.subtitles, 0, 10)], 1),
            ([(.video, 10, 10), (.subtitles, 0, 10), (.images, 0, 1)], 1), ([(.audio, 10, 10), (.images, 0, 10)], 1),
            ([(.media, 10, 10), (.subtitles, 0, 10)], 1), ([(.subtitles, 5, 10)], 0.5),
        ] as [([(StreamTrack.Kind, stored: Int64, of: Int64)], Double)])
    func kinds(tracks: [(StreamTrack.Kind, stored: Int64, of: Int64)], share: Double) {
        let period = Self.period(tracks)
        let (one, both) = (PlayableShare.whole(of: [period]), PlayableShare.whole(of: [period, period]))
        #expect(one == share && both == share)
    }

    @Test("periods count by their length, and one of which nothing is known keeps a stream from being whole")
    func periods() {
        let (whole, missing) = (Self.period([(.video, 3000, 3000)]), Self.period([(.video, 0, 1000)]))
        let (share, unknown) = (PlayableShare.whole(of: [whole, missing]), PlayableShare.whole(of: [whole, .init()]))
        let nothing = PlayableShare.whole(of: [.init()])
        #expect(share == 0.75 && unknown == 0.75 && nothing == nil)
    }
}
