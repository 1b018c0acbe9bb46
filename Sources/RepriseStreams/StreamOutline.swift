import ByteRanges
package import Playlists
package import Reprise

/// A stream whose playlist is stored: its tracks, and how much of each is stored.
///
/// Read from the stored files alone; nothing is fetched.
package struct StreamOutline: Sendable {
    /// The entry of the outermost playlist.
    package let entry: CacheEntry
    /// The format of its playlists.
    package let format: PlaylistFormat
    /// Whether it may still grow.
    package private(set) var isLive = false
    /// The tracks, in the order of the playlists; one for a playlist of segments alone.
    package private(set) var tracks: [StreamTrack] = []
    /// The files that its playlists name and that are stored, the playlists included.
    package private(set) var members: [CacheKey: CacheEntry] = [:]

    /// Number of bytes that are stored of its files.
    package var storedBytes: Int64 { members.values.reduce(0) { $0 + $1.storedBytes } }

    /// The stored share of the track that is stored best, from 0 to 1; `nil` if no track is listed.
    package var storedShare: Double? {
        let main = tracks.filter { $0.kind == .video || $0.kind == .media }
        return (main.isEmpty ? tracks : main).compactMap(\.storedShare).max()
    }

    /// The outline of the stream whose playlist is `entry`; `nil` if that is no complete playlist, or names nothing.
    package init?(_ entry: CacheEntry, in files: StoredFiles) {
        guard let bytes = files.playlistBytes(of: entry) else { return nil }
        let base = URIReference((entry.information.finalURL ?? entry.url).description)
        guard let playlist = try? Playlist(bytes, context: HLSContext(url: base)) else { return nil }
        self.entry = entry
        members[entry.key] = entry
        let files = files.named(asIn: entry.key)
        switch playlist {
        case .hls(let list):
            format = .hls
            add(list, base: base, in: files)
        case .dash(let mpd):
            format = .dash
            add(mpd, base: base, in: files)
        }
        if tracks.isEmpty { return nil }
    }

    // MARK: - HLS

    private mutating func add(_ list: HLSPlaylist, base: URIReference, in files: StoredFiles) {
        guard list.kind == .multivariant || list.kind == .mixed else {
            guard !list.media.segments.isEmpty || list.kind == .media else { return }
            var track = StreamTrack(list.media.hasImagesOnly || list.media.hasIFramesOnly ? .images : .media)
            track.url = entry.url.description
            fill(&track, from: list, base: base, in: files)
            isLive = list.media.isLive
            tracks.append(track)
            return
        }
        let multivariant = list.multivariant
        for variant in multivariant.variants { add(variant, as: .video, of: list, base: base, in: files) }
        for rendition in multivariant.renditions {
            guard let link = rendition.link else { continue }
            var track = StreamTrack(StreamTrack.Kind(rendition.kind))
            (track.name, track.language) = (rendition.name, rendition.language)
            add(track, link: link, of: list, base: base, in: files)
        }
        for variant in multivariant.iFrameVariants + multivariant.imageVariants {
            add(variant, as: .images, of: list, base: base, in: files)
        }
    }

    private mutating func add(
        _ variant: Variant, as kind: StreamTrack.Kind, of list: HLSPlaylist, base: URIReference, in files: StoredFiles
    ) {
        guard let link = variant.link else { return }
        var track = StreamTrack(kind)
        track.name = variant.name
        track.bandwidth = variant.bandwidth
        (track.width, track.height) = (variant.resolution?.width, variant.resolution?.height)
        track.codecs = variant.codecs
        add(track, link: link, of: list, base: base, in: files)
    }

    /// Adds a track with what its own playlist lists, if that is stored; one that several variants share is added once.
    private mutating func add(
        _ track: StreamTrack, link: Int, of list: HLSPlaylist, base: URIReference, in files: StoredFiles
    ) {
        guard case .fetchable(let target) = list.target(of: list.links[link], base: base),
            let url = try? ResourceURL(target.text)
        else { return }
        var track = track
        track.url = url.description
        if let known = tracks.firstIndex(where: { $0.url == track.url }) {
            // A rendition that is a variant, too: sound alone.
            if tracks[known].width == nil { tracks[known].become(track) }
            return
        }
        if let entry = files.entry(at: url, in: self.entry.key.partition) {
            members[entry.key] = entry
            let base = URIReference((entry.information.finalURL ?? entry.url).description)
            let context = HLSContext(url: base, imported: list.variables)
            if let bytes = files.playlistBytes(of: entry), let media = try? HLSPlaylist(bytes, context: context),
                media.kind != .multivariant
            {
                fill(&track, from: media, base: base, in: files)
                isLive = isLive || media.media.isLive
            }
        }
        tracks.append(track)
    }

    private mutating func fill(
        _ track: inout StreamTrack, from list: HLSPlaylist, base: URIReference, in files: StoredFiles
    ) {
        track.isListed = true
        for segment in list.media.segments where !segment.isGap {
            let link = list.links[segment.link]
            add(
                list.target(of: link, base: base), extent: link.extent, seconds: segment.duration, to: &track, in: files
            )
        }
        let others = list.media.maps.map(\.link) + list.media.keys.compactMap(\.link) + list.media.parts.map(\.link)
        for link in others { note(list.target(of: list.links[link], base: base), in: files) }
    }

    // MARK: - DASH

    /// Number of segments of one representation beyond which no more are looked up.
    private static let mostSegments = 100_000

    private mutating func add(_ mpd: MPD, base: URIReference, in files: StoredFiles) {
        isLive = mpd.isDynamic
        var indices: [String: Int] = [:]
        for (period, value) in mpd.periods.enumerated() {
            for (set, adaptation) in value.adaptationSets.enumerated() {
                for (number, representation) in adaptation.representations.enumerated() {
                    let path = MPD.Path(period: period, adaptationSet: set, representation: number)
                    // The same representation goes on in the next period.
                    let index =
                        indices[representation.id]
                        ?? {
                            tracks.append(StreamTrack(representation, of: adaptation))
                            return tracks.count - 1
                        }()
                    if !representation.id.isEmpty { indices[representation.id] = index }
                    var track = tracks[index]
                    fill(&track, from: mpd, path: path, base: base, in: files)
                    tracks[index] = track
                }
            }
        }
    }

    private mutating func fill(
        _ track: inout StreamTrack, from mpd: MPD, path: MPD.Path, base: URIReference, in files: StoredFiles
    ) {
        if let initialization = mpd.initialization(of: path, base: base) { note(initialization.target, in: files) }
        guard let segments = try? mpd.segments(of: path, base: base, limit: Self.mostSegments) else { return }
        track.isListed = true
        for segment in segments {
            add(segment.target, extent: segment.extent, seconds: segment.duration ?? 0, to: &track, in: files)
        }
    }

    // MARK: - Files

    private mutating func add(
        _ target: LinkTarget, extent: ByteExtent, seconds: Double, to track: inout StreamTrack, in files: StoredFiles
    ) {
        // A segment without a stated length counts as a second; no list is longer than a century.
        let length = Int64((min(max(seconds, 0), 3e9) * 1000).rounded())
        let duration = length > 0 ? length : 1000
        let start = track.duration
        track.segmentCount += 1
        track.duration = min(start + duration, 1 << 52)
        guard let entry = note(target, in: files) else { return }
        let (share, byteCount) = files.stored(extent, of: entry)
        track.storedBytes += byteCount
        if share >= 1 { track.storedSegments += 1 }
        let end = min(start + Int64((Double(duration) * min(share, 1)).rounded()), track.duration)
        if start < end { track.stored.insert(start..<end) }
    }

    /// The stored file at `target`, which becomes a member.
    @discardableResult private mutating func note(_ target: LinkTarget, in files: StoredFiles) -> CacheEntry? {
        guard case .fetchable(let uri) = target, let url = try? ResourceURL(uri.text),
            let entry = files.entry(at: url, in: self.entry.key.partition)
        else { return nil }
        members[entry.key] = entry
        return entry
    }
}

extension StreamTrack {
    /// Takes what the playlist says of it in another place.
    fileprivate mutating func become(_ other: StreamTrack) {
        kind = other.kind
        name = other.name ?? name
        language = other.language ?? language
    }

    fileprivate init(_ representation: Representation, of set: AdaptationSet) {
        let attributes = representation.attributes
        let kind: Kind =
            switch set.medium {
            case "video": .video
            case "audio": .audio
            case "text", "application": .subtitles
            case "image": .images
            default: .media
            }
        self.init(kind)
        name = representation.id.isEmpty ? nil : representation.id
        language = set.language
        bandwidth = representation.bandwidth
        (width, height) = (attributes.width, attributes.height)
        codecs = attributes.codecs
    }
}

extension StreamTrack.Kind {
    fileprivate init(_ kind: Rendition.Kind) {
        self =
            switch kind {
            case .audio: .audio
            case .video: .video
            case .subtitles, .closedCaptions: .subtitles
            case .other: .media
            }
    }
}
