/// The tags of an HLS playlist that are read; all others are passed on unread.
enum HLSTag: Sendable {
    case playlist, version, independentSegments, start, define
    case media, streamInf, iFrameStreamInf, imageStreamInf, sessionData, sessionKey, contentSteering
    case inf, byteRange, discontinuity, key, map, programDateTime, gap, bitrate, part
    case targetDuration, mediaSequence, discontinuitySequence, endList, playlistType, iFramesOnly, imagesOnly, tiles
    case partInf, serverControl, skip, preloadHint, renditionReport, dateRange, prefetch

    /// Reads the name at `place`, without the `#` (rfc8216bis §4.1: names are case-sensitive).
    init?(_ bytes: [UInt8], at place: Range<Int>) {
        if bytes.matches(place, text: "EXTINF") {
            self = .inf
            return
        }
        for (name, tag) in Self.names where bytes.matches(place, text: name) {
            self = tag
            return
        }
        return nil
    }

    /// Whether only one of the two kinds of playlist may have it; `nil` for both (rfc8216bis §4.4).
    var kind: HLSPlaylist.Kind? {
        switch self {
        case .playlist, .version, .independentSegments, .start, .define: nil
        case .media, .streamInf, .iFrameStreamInf, .imageStreamInf, .sessionData, .sessionKey, .contentSteering:
            .multivariant
        default: .media
        }
    }

    private static let names: [(StaticString, HLSTag)] = [
        ("EXT-X-PART", .part), ("EXT-X-BYTERANGE", .byteRange), ("EXT-X-PROGRAM-DATE-TIME", .programDateTime),
        ("EXT-X-DISCONTINUITY", .discontinuity), ("EXT-X-GAP", .gap), ("EXT-X-BITRATE", .bitrate),
        ("EXT-X-KEY", .key), ("EXT-X-MAP", .map), ("EXT-X-DATERANGE", .dateRange),
        ("EXT-X-STREAM-INF", .streamInf), ("EXT-X-MEDIA", .media), ("EXT-X-I-FRAME-STREAM-INF", .iFrameStreamInf),
        ("EXT-X-IMAGE-STREAM-INF", .imageStreamInf), ("EXT-X-SESSION-DATA", .sessionData),
        ("EXT-X-SESSION-KEY", .sessionKey), ("EXT-X-CONTENT-STEERING", .contentSteering),
        ("EXTM3U", .playlist), ("EXT-X-VERSION", .version), ("EXT-X-INDEPENDENT-SEGMENTS", .independentSegments),
        ("EXT-X-START", .start), ("EXT-X-DEFINE", .define),
        ("EXT-X-TARGETDURATION", .targetDuration), ("EXT-X-MEDIA-SEQUENCE", .mediaSequence),
        ("EXT-X-DISCONTINUITY-SEQUENCE", .discontinuitySequence), ("EXT-X-ENDLIST", .endList),
        ("EXT-X-PLAYLIST-TYPE", .playlistType), ("EXT-X-I-FRAMES-ONLY", .iFramesOnly),
        ("EXT-X-IMAGES-ONLY", .imagesOnly), ("EXT-X-TILES", .tiles), ("EXT-X-PART-INF", .partInf),
        ("EXT-X-SERVER-CONTROL", .serverControl), ("EXT-X-SKIP", .skip), ("EXT-X-PRELOAD-HINT", .preloadHint),
        ("EXT-X-RENDITION-REPORT", .renditionReport), ("EXT-X-PREFETCH", .prefetch),
    ]
}
