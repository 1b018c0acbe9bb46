import HTTPSemantics
import Playlists
import Reprise

/// What a playlist says about itself and its segments, where origins say nothing (rfc8216bis §6.2.1, §B.1).
extension Playlist {
    /// Longest target duration that is believed, in seconds: a live list is validated every five minutes at least.
    private static let longestTarget: Double = 600

    /// The role of the playlist itself.
    var role: StreamRole {
        switch self {
        case .hls(let list) where list.listsSegments:
            if list.media.hasEndList {
                return StreamRole(
                    .playlist, for: list.media.type == .vod ? .permanent : .media, sequence: list.media.mediaSequence)
            }
            let target = Self.seconds(list.media.targetDuration)
            return StreamRole(
                .playlist, for: .limited(fresh: target / 2, usable: target * 1.5), isLive: true,
                sequence: list.media.mediaSequence)
        case .dash(let mpd) where mpd.root == .presentation && !mpd.isDynamic:
            return .endedPlaylist
        case .dash(let mpd) where mpd.root == .presentation:
            // A new segment appears after its duration even if the MPD does not say when it changes.
            let segment = Self.seconds(mpd.maxSegmentDuration)
            let period = mpd.minimumUpdatePeriod.map { Self.seconds($0) } ?? segment
            return StreamRole(
                .playlist, for: .limited(fresh: period / 2, usable: max(period, segment) * 1.5), isLive: true)
        case .hls, .dash: return .listOfPlaylists
        }
    }

    /// The role of the playlist in a response with this metadata.
    ///
    /// A playlist that sets cookies starts a session that its files need. It is validated each time, like a list of
    /// playlists.
    func role(of information: ContentInformation) -> StreamRole {
        guard information.fields[.setCookie] != nil, !role.isLive else { return role }
        return StreamRole(.playlist, for: StreamRole.listOfPlaylists.term, sequence: role.sequence)
    }

    /// The role of the files that it lists; `nil` if it lists no segments.
    var segmentRole: StreamRole? {
        switch self {
        case .hls(let list):
            guard list.listsSegments else { return nil }
            return list.media.hasEndList ? .endedSegment : .liveSegment
        case .dash(let mpd):
            guard mpd.root == .presentation else { return nil }
            return mpd.isDynamic ? .liveSegment : .endedSegment
        }
    }

    /// The Media Sequence Numbers of the segments (rfc8216bis §4.4.3.2), by the positions of their links; empty for an
    /// MPD.
    var segmentNumbers: [Range<Int>: Int64] {
        guard case .hls(let list) = self, list.listsSegments else { return [:] }
        let numbers = list.media.segments.map { (list.links[$0.link].place, $0.sequence) }
        return Dictionary(numbers, uniquingKeysWith: { first, _ in first })
    }

    /// Whether its files make up one title: it lists segments, or the variants of one stream.
    var isOfStream: Bool {
        if case .hls(let list) = self, list.kind == .multivariant || list.kind == .mixed { return true }
        return segmentRole != nil
    }

    /// Whether it defines variables, which playlists that it names may import.
    var hasVariables: Bool {
        if case .hls(let list) = self { !list.variables.isEmpty } else { false }
    }

    /// Number of the segment behind the last one, in HLS.
    var nextSequence: Int64? {
        if case .hls(let list) = self, list.listsSegments { list.media.nextSequence } else { nil }
    }

    private static func seconds(_ value: Double?) -> Duration {
        guard let value, value.isFinite else { return .zero }
        return .seconds(min(max(0, value), longestTarget))
    }
}

extension MPD {
    /// Maximum accepted offset of a period, in seconds.
    private static let longestOffset: Double = 1e10

    /// Start time of the live stream run that `link` belongs to, in seconds since 1970.
    ///
    /// A restarted encoder changes `@availabilityStartTime`, or adds a period (ISO/IEC 23009-1 §5.3.1.2, §5.3.2.1).
    func run(of link: Link) -> Int64? {
        // Ignore fractions of seconds and time zones. The value only has to differ between runs.
        guard isDynamic, let start = availabilityStartTime, let date = HTTPDate(iso8601: "\(start.prefix(19))Z")
        else { return nil }
        let offset = link.scope.period.flatMap { periods.indices.contains($0) ? periods[$0].start : nil } ?? 0
        return date.secondsSince1970 + (offset.isFinite ? Int64(min(max(0, offset), Self.longestOffset)) : 0)
    }
}

extension HLSPlaylist {
    /// Whether it is a media playlist of HLS.
    var listsSegments: Bool { kind == .media && media.targetDuration != nil }

    /// Whether this is a plain M3U list of stations or films, which has no target duration.
    var isPlainList: Bool { kind == .untyped || kind == .media && media.targetDuration == nil }
}
