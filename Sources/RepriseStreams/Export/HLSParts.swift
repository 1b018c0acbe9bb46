import MediaTiming
import Playlists

/// Divides an exported stream of HLS where a decoder is set up again: where its maps change, and at discontinuities.
///
/// ffmpeg reads one map of a playlist, and takes what follows another one for damaged. Where times jump forward by less
/// than ten seconds, it leaves a pause.
struct HLSParts {
    /// An exported media playlist with sound or pictures.
    struct Source {
        let path: String
        let language: String?
    }

    /// Which part of the stream it is.
    ///
    /// Timelines change at the same places in all playlists (rfc8216bis §6.2.4).
    private struct Place: Hashable, Comparable {
        let discontinuitySequence: Int64
        /// How often the map has changed since.
        let change: Int

        static func < (one: Place, other: Place) -> Bool {
            (one.discontinuitySequence, one.change) < (other.discontinuitySequence, other.change)
        }
    }

    /// Where a map is in the exported folder.
    private struct MapPlace: Hashable {
        let path: String
        let extent: ByteExtent
    }

    /// The segments of a playlist between two changes.
    private struct Part {
        let place: Place
        var segments: Range<Int>
        let map: MapPlace?
        /// What the map says; `nil` if that cannot be read.
        var tracks: [ExportedPeriod.Track]? = [.unknown]
    }

    private struct DividedList {
        let source: Source
        let list: HLSPlaylist
        private(set) var parts: [Part]

        init(source: Source, list: HLSPlaylist, parts: [Part]) {
            (self.source, self.list, self.parts) = (source, list, parts)
        }

        /// Reads what the maps say.
        mutating func describe(_ map: (String, ByteExtent) throws -> [UInt8]?) throws {
            let movies = try parts.map { part in
                try part.map.flatMap { try map($0.path, $0.extent) }.flatMap { TrackDescription.tracks(in: $0) }
            }
            // MPEG-TS has no maps, and one map needs no comparison.
            guard parts.allSatisfy({ $0.map != nil }) else { return }
            let unread: [ExportedPeriod.Track]? = Set(parts.map(\.map)).count == 1 ? [.unknown] : nil
            for (index, movie) in movies.enumerated() {
                parts[index].tracks =
                    movie.map { ExportedPeriod.tracks(of: $0, language: source.language) } ?? unread
            }
        }
    }

    private let outermost: ExportPlan.Text
    private let lists: [DividedList]

    /// Divides the playlists of `sources`, in the order in which `outermost` names them; all are among `texts`.
    ///
    /// `map` returns the bytes of a map at a path of the folder.
    init(
        _ outermost: ExportPlan.Text, _ sources: [Source], among texts: [ExportPlan.Text],
        map: (String, ByteExtent) throws -> [UInt8]?
    ) throws {
        self.outermost = outermost
        var lists = try sources.compactMap { source -> DividedList? in
            guard let text = texts.first(where: { $0.path == source.path }) else { return nil }
            let list = try HLSPlaylist(text.bytes)
            return DividedList(source: source, list: list, parts: Self.parts(of: list, at: source.path))
        }
        let changes = lists.contains { Set($0.parts.map(\.map)).count > 1 }
        for index in lists.indices where changes { try lists[index].describe(map) }
        self.lists = changes || Self.haveJumps(lists) ? lists : []
    }

    /// Whether times may jump between parts although nothing is missing, at the same places in all lists.
    private static func haveJumps(_ lists: [DividedList]) -> Bool {
        guard let places = lists.first?.parts.map(\.place), places.count > 1 else { return false }
        return lists.allSatisfy { divided in
            divided.parts.map(\.place) == places && !divided.list.media.segments.contains(where: \.isGap)
        }
    }

    private static func parts(of list: HLSPlaylist, at path: String) -> [Part] {
        var parts: [Part] = []
        for (index, segment) in list.media.segments.enumerated() {
            let map = segment.map.flatMap { map in
                let link = list.links[list.media.maps[map].link]
                return ExportNames.path(of: list.reference(of: link), in: path).map {
                    MapPlace(path: $0, extent: link.extent)
                }
            }
            let number = segment.discontinuitySequence
            let last = parts.last.flatMap { $0.place.discontinuitySequence == number ? $0 : nil }
            if let last, last.map == map {
                parts[parts.count - 1].segments = last.segments.lowerBound..<index + 1
            } else {
                let place = Place(discontinuitySequence: number, change: last.map { $0.place.change + 1 } ?? 0)
                parts.append(Part(place: place, segments: index..<index + 1, map: map))
            }
        }
        // Of gaps there are no files.
        return parts.filter { part in list.media.segments[part.segments].contains { !$0.isGap } }
    }

    /// The parts, in order; none if the playlists can be read as they are.
    func periods() throws -> [ExportedPeriod] {
        let places = Set(lists.flatMap { $0.parts.map(\.place) }).sorted()
        return try places.enumerated().map { try period($0 + 1, at: $1) }
    }

    private func period(_ number: Int, at place: Place) throws -> ExportedPeriod {
        var playlists: [ExportedPeriod.Playlist] = []
        var tracks: [ExportedPeriod.Track]? = []
        for divided in lists {
            guard let part = divided.parts.first(where: { $0.place == place }) else { continue }
            playlists.append(
                ExportedPeriod.Playlist(
                    path: ExportNames.part(number, of: divided.source.path),
                    bytes: divided.list.playlist(of: part.segments)))
            tracks = tracks.flatMap { known in part.tracks.map { known + $0 } }
        }
        let name = ExportNames.part(number, of: outermost.path)
        if !playlists.contains(where: { $0.path == name }) {
            playlists.append(ExportedPeriod.Playlist(path: name, bytes: try playlist(naming: playlists, part: number)))
        }
        return ExportedPeriod(name: "part \(number)", playlistName: name, playlists: playlists, tracks: tracks)
    }

    /// The multivariant playlist with links to `playlists` of a part.
    private func playlist(naming playlists: [ExportedPeriod.Playlist], part number: Int) throws -> [UInt8] {
        let list = try HLSPlaylist(outermost.bytes)
        var editor = PlaylistEditor(list.bytes)
        for link in list.links {
            let path = ExportNames.part(number, of: list.reference(of: link).path)
            if playlists.contains(where: { $0.path == path }) { try editor.replace(link, with: path) }
        }
        return try editor.edited()
    }
}

extension HLSPlaylist {
    /// Tags that hold for all segments behind them.
    private static let lasting = [
        "#EXTM3U", "#EXT-X-VERSION", "#EXT-X-TARGETDURATION", "#EXT-X-PLAYLIST-TYPE", "#EXT-X-INDEPENDENT-SEGMENTS",
        "#EXT-X-DEFINE", "#EXT-X-KEY", "#EXT-X-MAP",
    ]

    /// A media playlist of only these segments.
    fileprivate func playlist(of segments: Range<Int>) -> [UInt8] {
        let all = media.segments
        let start = segments.lowerBound == 0 ? 0 : all[segments.lowerBound - 1].uriLine.upperBound
        var lines: [Substring] = []
        if start > 0 {
            lines = Self.lines(text(0..<start)).filter { line in Self.lasting.contains { line.hasPrefix($0) } }
            // It is the initialization vector where a key names none.
            lines.append("#EXT-X-MEDIA-SEQUENCE:\(all[segments.lowerBound].sequence)")
            // Without an offset, a range begins where the one before it ends.
            if case .range(let range) = links[all[segments.lowerBound].link].extent {
                lines.append("#EXT-X-BYTERANGE:\(range.upperBound - range.lowerBound)@\(range.lowerBound)")
            }
        }
        var own = Self.lines(text(start..<all[segments.upperBound - 1].uriLine.upperBound))
        if start > 0, let uri = own.firstIndex(where: { !$0.hasPrefix("#") }) {
            own = own[..<uri].filter { !$0.hasPrefix("#EXT-X-BYTERANGE:") } + own[uri...]
        }
        return Array(((lines + own).joined(separator: "\n") + "\n#EXT-X-ENDLIST\n").utf8)
    }

    private static func lines(_ text: String) -> [Substring] {
        text.split { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }
    }
}
