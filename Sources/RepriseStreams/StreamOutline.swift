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

    /// Stored playlists whose files have not been looked up yet, with their indices in ``tracks``.
    private var waiting: [(track: Int, list: HLSPlaylist, base: URIReference)] = []
    /// Batch sizes for lookups: bytes of HLS playlists, and number of DASH segments.
    private static let (mostBytesTogether, mostSegmentsTogether) = (4 << 20, 20_000)
    /// Maximum number of links that are looked up, enough for fifty variants of ten hours.
    private static let mostLinks = 500_000
    private static let tooManyLinks = "Its playlists name more than \(mostLinks) segments."
    /// Number of links of the playlists read so far.
    private var linkCount = 0

    /// The outline of the stream whose playlist is `entry`; `nil` if that is no complete playlist, or names nothing.
    package init?(_ entry: CacheEntry, in files: StoredFiles) {
        self.entry = entry
        members[entry.key] = entry
        let (playlist, base): (Playlist, URIReference)
        do throws(PlaylistError) {
            guard let found = try files.playlist(of: entry) else { return nil }
            (playlist, base) = found
        } catch {
            guard error.code.isLimit, let bytes = files.playlistBytes(of: entry),
                let format = PlaylistFormat(of: bytes)
            else { return nil }
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
            obstacle = error.message
            files.note(error, for: entry)
        }
        if obstacle != nil { (tracks, storedShare) = ([], nil) } else if tracks.isEmpty { return nil }
    }

    // MARK: - HLS

    /// The tracks that a multivariant playlist lists.
    private struct Tracks {
        let list: HLSPlaylist
        /// Keyed by link index.
        let urls: [ResourceURL?]
        /// The stored playlists.
        let entries: [ResourceURL: CacheEntry]
    }

    private mutating func add(_ list: HLSPlaylist, base: URIReference, in files: StoredFiles) {
        guard list.kind == .multivariant || list.kind == .mixed else {
            guard !list.media.segments.isEmpty || list.kind == .media else { return }
            var track = StreamTrack(list.media.hasImagesOnly || list.media.hasIFramesOnly ? .images : .media)
            track.url = entry.url.description
            isLive = list.media.isLive
            tracks.append(track)
            waiting.append((0, list, base))
            fillWaiting(in: files)
            storedShare = tracks[0].storedShare
            return
        }
        let multivariant = list.multivariant
        let urls = list.links.map { link -> ResourceURL? in
            guard link.kind.leadsToMediaPlaylist, case .fetchable(let uri) = list.target(of: link, base: base) else {
                return nil
            }
            return try? ResourceURL(uri.text)
        }
        let tracks = Tracks(
            list: list, urls: urls, entries: files.entries(at: urls.compactMap(\.self), in: entry.key.partition))
        for variant in multivariant.variants { add(variant, as: .video, among: tracks, in: files) }
        for rendition in multivariant.renditions {
            guard let link = rendition.link else { continue }
            var track = StreamTrack(StreamTrack.Kind(rendition.kind))
            (track.name, track.language) = (rendition.name, rendition.language)
            add(track, link: link, among: tracks, in: files)
        }
        for variant in multivariant.iFrameVariants + multivariant.imageVariants {
            add(variant, as: .images, among: tracks, in: files)
        }
        fillWaiting(in: files)
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
        _ variant: Variant, as kind: StreamTrack.Kind, among tracks: Tracks, in files: StoredFiles
    ) {
        guard let link = variant.link else { return }
        var track = StreamTrack(kind)
        track.name = variant.name
        track.bandwidth = variant.bandwidth
        (track.width, track.height) = (variant.resolution?.width, variant.resolution?.height)
        track.codecs = variant.codecs
        add(track, link: link, among: tracks, in: files)
    }

    /// Adds a track with what its own playlist lists, if that is stored; one that several variants share is added once.
    private mutating func add(_ track: StreamTrack, link: Int, among all: Tracks, in files: StoredFiles) {
        guard let url = all.urls[link] else { return }
        var track = track
        track.url = url.description
        if let known = tracksOfURLs[url.description] {
            // A rendition that is a variant, too: sound alone.
            if tracks[known].width == nil { tracks[known].become(track) }
            tracksOfLinks[link] = known
            return
        }
        if let entry = all.entries[url] {
            members[entry.key] = entry
            if obstacle == nil,
                case (.hls(let media), let base)?? = try? files.playlist(of: entry, importing: all.list.variables),
                media.kind != .multivariant
            {
                waiting.append((tracks.count, media, base))
                isLive = isLive || media.media.isLive
                linkCount += media.links.count
                if linkCount > Self.mostLinks { obstacle = Self.tooManyLinks }
            }
        }
        (tracksOfLinks[link], tracksOfURLs[url.description]) = (tracks.count, tracks.count)
        tracks.append(track)
        if waiting.reduce(0, { $0 + $1.list.bytes.count }) >= Self.mostBytesTogether { fillWaiting(in: files) }
    }

    /// Fills in the tracks of the pending playlists.
    private mutating func fillWaiting(in files: StoredFiles) {
        guard obstacle == nil else { return }
        let targets = waiting.map { _, list, base in list.links.map { list.target(of: $0, base: base) } }
        let links = zip(waiting, targets).lazy.flatMap { waiting, targets in
            zip(targets, waiting.list.links.lazy.map(\.extent)).lazy.map { (target: $0, extent: $1) }
        }
        let stored = StoredLinks(links, of: entry.key.partition, in: files)
        for (waiting, targets) in zip(waiting, targets) {
            var track = tracks[waiting.track]
            fill(&track, from: waiting.list, targets, stored)
            tracks[waiting.track] = track
        }
        waiting = []
    }

    private mutating func fill(
        _ track: inout StreamTrack, from list: HLSPlaylist, _ targets: [LinkTarget], _ stored: StoredLinks
    ) {
        track.isListed = true
        let others = list.media.maps.map(\.link) + list.media.keys.compactMap(\.link) + list.media.parts.map(\.link)
        let present = Set(others.filter { isStored(list.links[$0].extent, at: targets[$0], stored) })
        func segments(lacking kinds: Set<LinkKind>) -> Set<Int> {
            Set(
                OfflineSelection.missingSegments(of: list) { link in
                    !kinds.contains(list.links[link].kind) || present.contains(link)
                })
        }
        let (locked, unplayable) = (segments(lacking: [.key]), segments(lacking: [.key, .map]))
        for (index, segment) in list.media.segments.enumerated() where !segment.isGap {
            let isStored = add(
                targets[segment.link], extent: list.links[segment.link].extent, seconds: segment.duration,
                isPlayable: !unplayable.contains(index), to: &track, stored)
            if isStored, locked.contains(index) { track.lacksKeys = true }
        }
    }

    // MARK: - DASH

    /// Number of segments of one representation beyond which no more are looked up.
    private static let mostSegments = 100_000

    private mutating func add(_ mpd: MPD, base: URIReference, in files: StoredFiles) {
        isLive = mpd.isDynamic
        let filled = filledTracks(of: mpd, base: base, in: files)
        var indices: [String: Int] = [:]
        var shares: [PlayableShare.Period] = []
        for (period, value) in mpd.periods.enumerated() {
            var share = PlayableShare.Period()
            for (set, adaptation) in value.adaptationSets.enumerated() {
                for (number, representation) in adaptation.representations.enumerated() {
                    let path = MPD.Path(period: period, adaptationSet: set, representation: number)
                    guard let track = filled[path] else { continue }
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

    /// The segments of a representation.
    private struct Parts {
        let path: MPD.Path
        let initialization: DASHSegment?
        /// `nil` if unknown.
        let segments: [DASHSegment]?
    }

    /// The tracks of all representations; incomplete if there is an obstacle.
    private mutating func filledTracks(
        of mpd: MPD, base: URIReference, in files: StoredFiles
    ) -> [MPD.Path: StreamTrack] {
        var filled: [MPD.Path: StreamTrack] = [:]
        var (waiting, count) = ([Parts](), 0)
        let lists = mpd.paths.map { ($0, try? mpd.segments(of: $0, base: base, limit: Self.mostSegments)) }
        linkCount = lists.reduce(0) { $0 + ($1.1?.count ?? 0) }
        guard linkCount <= Self.mostLinks else {
            obstacle = Self.tooManyLinks
            return [:]
        }
        for (index, (path, segments)) in lists.enumerated() where !mpd.budget.isExceeded {
            waiting.append(
                Parts(
                    path: path, initialization: mpd.initialization(of: path, base: base),
                    segments: segments.map { Array($0) }))
            count += segments?.count ?? 0
            guard count >= Self.mostSegmentsTogether || index == lists.count - 1 else { continue }
            let links = waiting.lazy.flatMap { [$0.initialization].compactMap(\.self) + ($0.segments ?? []) }
                .map { (target: $0.target, extent: $0.extent) }
            let stored = StoredLinks(links, of: entry.key.partition, in: files)
            for parts in waiting { filled[parts.path] = track(of: parts, in: mpd, stored) }
            (waiting, count) = ([], 0)
        }
        return filled
    }

    private mutating func track(of parts: Parts, in mpd: MPD, _ stored: StoredLinks) -> StreamTrack {
        let set = mpd.periods[parts.path.period].adaptationSets[parts.path.adaptationSet]
        var track = StreamTrack(set.representations[parts.path.representation], of: set)
        let isPlayable = parts.initialization.map { isStored($0.extent, at: $0.target, stored) } ?? true
        guard let segments = parts.segments else { return track }
        track.isListed = true
        for segment in segments {
            add(
                segment.target, extent: segment.extent, seconds: segment.duration ?? 0, isPlayable: isPlayable,
                to: &track, stored)
        }
        return track
    }

    // MARK: - Files

    /// Adds a segment to `track`; true if something of it is stored.
    ///
    /// `isPlayable` says that its keys and its initialization are stored.
    @discardableResult private mutating func add(
        _ target: LinkTarget, extent: ByteExtent, seconds: Double, isPlayable: Bool, to track: inout StreamTrack,
        _ stored: StoredLinks
    ) -> Bool {
        // A segment without a stated length counts as a second; no list is longer than a century.
        let length = Int64((min(max(seconds, 0), 3e9) * 1000).rounded())
        let duration = length > 0 ? length : 1000
        let start = track.duration
        track.segmentCount += 1
        track.duration = min(start + duration, StreamTrack.longest)
        guard let entry = stored.entry(at: target) else { return false }
        members[entry.key] = entry
        let (share, byteCount) = stored.stored(extent, of: entry)
        track.storedBytes += byteCount
        if share >= 1 { track.storedSegments += 1 }
        let end = min(start + Int64((Double(duration) * min(share, 1)).rounded()), track.duration)
        if start < end { track.stored.insert(start..<end) }
        if !isPlayable { track.unplayable += max(0, end - start) }
        return byteCount > 0
    }

    /// Whether `extent` of the file at `target` is stored, or stands in the playlist itself; the file becomes a member.
    private mutating func isStored(_ extent: ByteExtent, at target: LinkTarget, _ stored: StoredLinks) -> Bool {
        if target == .leftAlone(.scheme("data")) { return true }
        guard let entry = stored.entry(at: target) else { return false }
        members[entry.key] = entry
        return stored.stored(extent, of: entry).share >= 1
    }
}

extension Period {
    /// Whether nothing plays in it, neither what is described in it nor what is elsewhere.
    fileprivate var isEmpty: Bool {
        remote == nil && adaptationSets.allSatisfy { $0.remote == nil && $0.representations.isEmpty }
    }
}
