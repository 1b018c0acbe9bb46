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

    /// Why its playlist was not read to its end, so that nothing is known of its tracks and its share; `nil` if it was.
    package private(set) var obstacle: String?

    /// Number of bytes that are stored of its files.
    package var storedBytes: Int64 { members.values.reduce(0) { $0 + $1.storedBytes } }

    /// The stored share, from 0 to 1, of the variant of which most is stored, with the sound that it needs; `nil` if no
    /// track is listed.
    package private(set) var storedShare: Double?

    /// Whether keys of stored segments are not stored.
    package var lacksKeys: Bool { tracks.contains(where: \.lacksKeys) }

    /// Whether it plays to its end without the origin.
    package var isComplete: Bool { !isLive && storedShare ?? 0 >= 1 }

    /// The tracks that the links of a multivariant playlist lead to, as indices in ``tracks``.
    private var tracksOfLinks: [Int: Int] = [:]

    /// The indices of tracks by the URLs of their playlists.
    private var tracksOfURLs: [String: Int] = [:]

    /// The outline of the stream whose playlist is `entry`; `nil` if that is no complete playlist, or names nothing.
    package init?(_ entry: CacheEntry, in files: StoredFiles) {
        guard let bytes = files.playlistBytes(of: entry) else { return nil }
        let base = URIReference((entry.information.finalURL ?? entry.url).description)
        self.entry = entry
        members[entry.key] = entry
        let playlist: Playlist
        do throws(PlaylistError) {
            playlist = try Playlist(bytes, context: HLSContext(url: base))
        } catch {
            guard error.code.isLimit, let format = PlaylistFormat(of: bytes) else { return nil }
            (self.format, obstacle) = (format, error.message)
            return
        }
        let files = files.named(asIn: entry.key)
        switch playlist {
        case .hls(let list):
            format = .hls
            add(list, base: base, in: files)
        case .dash(let mpd):
            format = .dash
            add(mpd, base: base, in: files)
        }
        do throws(PlaylistError) { try playlist.budget.check() } catch {
            (obstacle, tracks, storedShare) = (error.message, [], nil)
            return
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
            storedShare = track.storedShare
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
        storedShare = share(of: multivariant)
    }

    private func share(of playlist: MultivariantPlaylist) -> Double? {
        func track(_ link: Int?) -> StreamTrack? { link.flatMap { tracksOfLinks[$0] }.map { tracks[$0] } }
        // Sound alone stands beside what has a picture.
        let pictures = playlist.variants.filter { track($0.link)?.kind != .audio }
        let variants = pictures.isEmpty ? playlist.variants : pictures
        guard !variants.isEmpty else { return tracks.compactMap(\.storedShare).max() }
        return PlayableShare.best(of: variants, with: playlist.renditions) { track($0)?.storedShare }
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
        if let known = tracksOfURLs[url.description] {
            // A rendition that is a variant, too: sound alone.
            if tracks[known].width == nil { tracks[known].become(track) }
            tracksOfLinks[link] = known
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
        (tracksOfLinks[link], tracksOfURLs[url.description]) = (tracks.count, tracks.count)
        tracks.append(track)
    }

    private mutating func fill(
        _ track: inout StreamTrack, from list: HLSPlaylist, base: URIReference, in files: StoredFiles
    ) {
        track.isListed = true
        let others = list.media.maps.map(\.link) + list.media.keys.compactMap(\.link) + list.media.parts.map(\.link)
        let present = Set(
            others.filter { index in
                let link = list.links[index]
                return isStored(link.extent, at: list.target(of: link, base: base), in: files)
            })
        func segments(lacking kinds: Set<LinkKind>) -> Set<Int> {
            Set(
                OfflineSelection.missingSegments(of: list) { link in
                    !kinds.contains(list.links[link].kind) || present.contains(link)
                })
        }
        let (locked, unplayable) = (segments(lacking: [.key]), segments(lacking: [.key, .map]))
        for (index, segment) in list.media.segments.enumerated() where !segment.isGap {
            let link = list.links[segment.link]
            let isStored = add(
                list.target(of: link, base: base), extent: link.extent, seconds: segment.duration,
                isPlayable: !unplayable.contains(index), to: &track, in: files)
            if isStored, locked.contains(index) { track.lacksKeys = true }
        }
    }

    // MARK: - DASH

    /// Number of segments of one representation beyond which no more are looked up.
    private static let mostSegments = 100_000

    private mutating func add(_ mpd: MPD, base: URIReference, in files: StoredFiles) {
        isLive = mpd.isDynamic
        var indices: [String: Int] = [:]
        var shares: [PlayableShare.Period] = []
        for (period, value) in mpd.periods.enumerated() {
            var share = PlayableShare.Period()
            for (set, adaptation) in value.adaptationSets.enumerated() {
                for (number, representation) in adaptation.representations.enumerated() {
                    let path = MPD.Path(period: period, adaptationSet: set, representation: number)
                    var track = StreamTrack(representation, of: adaptation)
                    fill(&track, from: mpd, path: path, base: base, in: files)
                    share.note(track)
                    // The same representation goes on in the next period.
                    if !representation.id.isEmpty, let index = indices[representation.id] {
                        tracks[index].append(track)
                    } else {
                        indices[representation.id] = tracks.count
                        tracks.append(track)
                    }
                }
            }
            if !value.isEmpty { shares.append(share) }
        }
        storedShare = PlayableShare.whole(of: shares)
    }

    private mutating func fill(
        _ track: inout StreamTrack, from mpd: MPD, path: MPD.Path, base: URIReference, in files: StoredFiles
    ) {
        let initialization = mpd.initialization(of: path, base: base)
        let isPlayable = initialization.map { isStored($0.extent, at: $0.target, in: files) } ?? true
        guard let segments = try? mpd.segments(of: path, base: base, limit: Self.mostSegments) else { return }
        track.isListed = true
        for segment in segments {
            add(
                segment.target, extent: segment.extent, seconds: segment.duration ?? 0, isPlayable: isPlayable,
                to: &track, in: files)
        }
    }

    // MARK: - Files

    /// Adds a segment to `track`; true if something of it is stored.
    ///
    /// `isPlayable` says that its keys and its initialization are stored.
    @discardableResult private mutating func add(
        _ target: LinkTarget, extent: ByteExtent, seconds: Double, isPlayable: Bool, to track: inout StreamTrack,
        in files: StoredFiles
    ) -> Bool {
        // A segment without a stated length counts as a second; no list is longer than a century.
        let length = Int64((min(max(seconds, 0), 3e9) * 1000).rounded())
        let duration = length > 0 ? length : 1000
        let start = track.duration
        track.segmentCount += 1
        track.duration = min(start + duration, StreamTrack.longest)
        guard let entry = note(target, in: files) else { return false }
        let (share, byteCount) = files.stored(extent, of: entry)
        track.storedBytes += byteCount
        if share >= 1 { track.storedSegments += 1 }
        let end = min(start + Int64((Double(duration) * min(share, 1)).rounded()), track.duration)
        if start < end { track.stored.insert(start..<end) }
        if !isPlayable { track.unplayable += max(0, end - start) }
        return byteCount > 0
    }

    /// Whether `extent` of the file at `target` is stored, or stands in the playlist itself; the file becomes a member.
    private mutating func isStored(_ extent: ByteExtent, at target: LinkTarget, in files: StoredFiles) -> Bool {
        if target == .leftAlone(.scheme("data")) { return true }
        return note(target, in: files).map { files.stored(extent, of: $0).share >= 1 } ?? false
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

extension Period {
    /// Whether nothing plays in it, neither what is described in it nor what is elsewhere.
    fileprivate var isEmpty: Bool {
        remote == nil && adaptationSets.allSatisfy { $0.remote == nil && $0.representations.isEmpty }
    }
}

extension StreamTrack {
    /// Adds what follows in the next period.
    fileprivate mutating func append(_ next: StreamTrack) {
        let start = duration
        isListed = isListed || next.isListed
        segmentCount += next.segmentCount
        storedSegments += next.storedSegments
        storedBytes += next.storedBytes
        unplayable += next.unplayable
        duration = min(start + next.duration, StreamTrack.longest)
        for span in next.stored {
            let (from, to) = (start + span.lowerBound, min(start + span.upperBound, duration))
            if from < to { stored.insert(from..<to) }
        }
    }

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
