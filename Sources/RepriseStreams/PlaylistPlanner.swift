import HTTPSemantics
import Playlists
public import Reprise

/// Finds the files that a download of a stream consists of, in HLS and in DASH.
///
/// Of a live stream and of one whose keys only a player's system can get, nothing is downloaded.
package struct PlaylistPlanner: StreamPlanner {
    private let limits = PlaylistLimits()

    /// A planner.
    package init() {}

    package var largestPlaylist: Int64 { Int64(limits.size) }

    package func mayBePlaylist(_ information: ContentInformation, at url: ResourceURL) -> Bool {
        let type = MediaType(information.mediaType)?.essence
        return PlaylistFormat.isDeclared(by: type, name: url.lastPathComponent) || !url.namesMedia
    }

    package func beginsPlaylist(_ bytes: [UInt8]) -> Bool { PlaylistFormat(of: bytes) != nil }

    package func namesNothing(_ bytes: [UInt8]) -> Bool {
        (try? Playlist(bytes, limits: limits))?.links.isEmpty ?? false
    }

    package func files(
        of first: StreamDocument, selection: StreamSelection, load: (ResourceURL) async throws -> StreamDocument
    ) async throws -> [StreamFile]? {
        let base = URIReference(first.url.description)
        guard PlaylistFormat(of: first.bytes) != nil else { return nil }
        var plan = Plan()
        switch try Self.reading({ try Playlist(first.bytes, context: HLSContext(url: base), limits: limits) }) {
        case .hls(let list) where list.kind == .multivariant || list.kind == .mixed:
            let tracks = try HLSSelection(list, by: selection).links
            for link in tracks {
                guard let (media, url) = try await mediaPlaylist(link, of: list, at: base, load: load) else { continue }
                try plan.add(media, at: url)
            }
        case .hls(let list):
            // A list of stations or films in the same syntax is no stream.
            guard list.kind == .media, list.media.targetDuration != nil else { return try Self.plainList(list) }
            try plan.add(list, at: base)
        case .dash(let mpd):
            for path in try DASHSelection(mpd, by: selection).paths {
                try Self.reading { try plan.add(mpd, path: path, at: base) }
            }
        }
        guard plan.files.contains(where: { !$0.isKey }) else { throw Self.namesNothing }
        return plan.files
    }

    /// What a list without target duration means: no stream, unless nothing is in it.
    private static func plainList<T>(_ list: HLSPlaylist) throws(RepriseError) -> [T]? {
        guard !list.links.isEmpty else { throw namesNothing }
        return nil
    }

    package func names(
        in first: StreamDocument, stored: (ResourceURL) throws -> StreamDocument?
    ) throws -> Set<ResourceURL>? {
        let base = URIReference(first.url.description)
        var listed = ListedURLs()
        let playlist = try Self.reading { try Playlist(first.bytes, context: HLSContext(url: base), limits: limits) }
        listed.add(playlist, at: base)
        if case .hls(let list) = playlist {
            if list.kind == .media, list.media.targetDuration == nil { return nil }
            var known: Set<ResourceURL> = []
            for link in list.links where link.kind.leadsToMediaPlaylist {
                guard case .fetchable(let target) = list.target(of: link, base: base),
                    let url = target.streamFile()?.url, known.insert(url).inserted, let document = try stored(url)
                else { continue }
                let mediaBase = URIReference(document.url.description)
                let context = HLSContext(url: mediaBase, imported: list.variables)
                let media = try Self.reading { try HLSPlaylist(document.bytes, context: context, limits: limits) }
                listed.add(.hls(media), at: mediaBase)
            }
        }
        return listed.isOpen ? nil : listed.urls
    }

    package func beginning(
        of first: StreamDocument, amount: PreloadAmount, load: (ResourceURL) async throws -> StreamDocument
    ) async throws -> [StreamPart]? {
        let base = URIReference(first.url.description)
        guard PlaylistFormat(of: first.bytes) != nil else { return nil }
        var beginning = StreamBeginning(amount)
        var isEmpty = true
        let selection = StreamSelection(quality: .first)
        switch try Self.reading({ try Playlist(first.bytes, context: HLSContext(url: base), limits: limits) }) {
        case .hls(let list) where list.kind == .multivariant || list.kind == .mixed:
            let tracks = try HLSSelection(list, by: selection)
            for link in tracks.links {
                guard let (media, url) = try await mediaPlaylist(link, of: list, at: base, load: load) else { continue }
                try beginning.add(media, at: url, bandwidth: tracks.bandwidth)
                isEmpty = isEmpty && media.media.segments.isEmpty
            }
        case .hls(let list):
            guard list.kind == .media, list.media.targetDuration != nil else { return try Self.plainList(list) }
            try beginning.add(list, at: base, bandwidth: nil)
            isEmpty = list.media.segments.isEmpty
        case .dash(let mpd):
            let paths = try DASHSelection(mpd, by: selection).paths
            try Self.reading { try beginning.add(mpd, paths: paths, at: base) }
            isEmpty = beginning.parts.isEmpty
        }
        guard !isEmpty else { throw Self.namesNothing }
        return beginning.parts
    }

    /// The media playlist that a link of a multivariant playlist names, and where it came from; `nil` if it cannot be
    /// fetched over HTTP.
    private func mediaPlaylist(
        _ link: Int, of list: HLSPlaylist, at base: URIReference, load: (ResourceURL) async throws -> StreamDocument
    ) async throws -> (HLSPlaylist, URIReference)? {
        guard case .fetchable(let target) = list.target(of: list.links[link], base: base) else { return nil }
        let document = try await load(try ResourceURL(target.withoutFragment.text))
        let url = URIReference(document.url.description)
        let context = HLSContext(url: url, imported: list.variables)
        return (try Self.reading { try HLSPlaylist(document.bytes, context: context, limits: limits) }, url)
    }

    /// The errors of playlists in the words of downloads.
    private static func reading<T>(_ work: () throws -> T) throws -> T {
        do { return try work() } catch let error as PlaylistError {
            if error.code == .canceled { throw CancellationError() }
            throw RepriseError(.notDownloadable, "A playlist of the stream cannot be read: \(error.message)")
        }
    }
}

extension LinkKind {
    /// Whether a multivariant playlist names a media playlist by it.
    var leadsToMediaPlaylist: Bool {
        [.variant, .rendition, .iFrameVariant, .imageVariant].contains(self)
    }
}

extension PlaylistPlanner {
    /// The files found so far, each once.
    private struct Plan {
        var files: [StreamFile] = []
        /// Where each URL is among them.
        private var known: [String: Int] = [:]

        /// Adds what a media playlist names: keys and maps, then the segments in order.
        mutating func add(_ list: HLSPlaylist, at base: URIReference) throws {
            guard list.kind == .media else { throw PlaylistPlanner.namesNoMediaPlaylist }
            guard !list.media.isLive else { throw PlaylistPlanner.isLive }
            let media = list.media
            let mapKeys = media.maps.map(\.keySet)
            for keySet in Set(media.segments.map(\.keySet) + mapKeys).sorted() {
                for target in try list.fetchableKeys(in: keySet, base: base) {
                    insert(target, isKey: true, extent: .whole)
                }
            }
            let links = media.maps.map(\.link) + media.segments.filter { !$0.isGap }.map(\.link)
            for link in links.map({ list.links[$0] }) {
                try add(list.target(of: link, base: base), extent: link.extent)
            }
        }

        /// Adds what a representation consists of.
        mutating func add(_ mpd: MPD, path: MPD.Path, at base: URIReference) throws {
            let segments = try mpd.segments(of: path, base: base)
            do {
                if let map = mpd.initialization(of: path, base: base) { try add(map.target, extent: map.extent) }
                for segment in segments { try add(segment.target, extent: segment.extent) }
            } catch {
                try mpd.budget.check()
                throw error
            }
        }

        private mutating func add(_ target: LinkTarget, extent: ByteExtent) throws {
            if let uri = try target.mediaFile { insert(uri, isKey: false, extent: extent) }
        }

        private mutating func insert(_ target: URIReference, isKey: Bool, extent: ByteExtent) {
            guard var file = target.streamFile(isKey: isKey) else { return }
            let range: Range<Int64>? = if case .range(let range) = extent { range } else { nil }
            if let index = known[file.url.description] {
                guard let range else { return files[index].ranges = nil }
                files[index].ranges?.insert(range)
            } else {
                known[file.url.description] = files.count
                file.ranges = range.map { ByteRangeSet($0) }
                files.append(file)
            }
        }
    }

    static let namesNothing = RepriseError(
        .notDownloadable, "The playlist names neither variants nor segments that could be stored.")
    static let isLive = RepriseError(
        .notDownloadable, "The stream is live: it has no end yet. It can be downloaded when it has ended.")
    static let isLiveBeginning = RepriseError(
        .notDownloadable, "The stream is live: what is its beginning now is over when it is played.")
    static let namesNoMediaPlaylist = RepriseError(
        .notDownloadable, "The stream names as a media playlist what is none.")
    static let isProtected = RepriseError(
        .notDownloadable,
        "The stream is protected (DRM): only the player's system can get its keys, and keep them for offline play.")

    package func storedStream(
        _ title: Title, in inspector: CacheInspector, policy: CacheKeyPolicy
    ) throws -> StoredStream? {
        let stored = try StoredTitle(title, inspector, policy: policy)
        guard stored.outline != nil || title.isStream else { return nil }
        let tracks = stored.outline?.tracks.prefix(Self.mostTracks).map { StoredStream.Track($0) } ?? []
        return StoredStream(
            share: stored.share, isComplete: stored.isComplete, fileCount: stored.fileCount, tracks: tracks)
    }

    /// Most tracks of a stream that are described: a hostile playlist has any number.
    private static let mostTracks = 100
}

extension StoredStream.Track {
    fileprivate init(_ track: StreamTrack) {
        self.init(
            kind: track.kind.rawValue, name: track.name, language: track.language, width: track.width,
            height: track.height, bandwidth: track.bandwidth, segments: track.segmentCount,
            storedSegments: track.storedSegments, storedShare: track.storedShare)
    }
}

extension PlaylistPlanner {
    package func isDeclaredStream(_ information: ContentInformation?, at url: ResourceURL) -> Bool {
        PlaylistFormat.isStreamDeclared(by: MediaType(information?.mediaType)?.essence, name: url.lastPathComponent)
    }

    package func objection(
        to information: ContentInformation?, beginning bytes: [UInt8]?, at url: ResourceURL
    ) -> RepriseError? {
        let type = MediaType(information?.mediaType)
        if let bytes, PlaylistFormat(of: bytes) != nil { return nil }
        guard isDeclaredStream(information, at: url) else {
            let isPage = type?.isHTML == true || bytes.map(WebPage.begins) == true
            return isPage ? WebPage.objection(at: url) : nil
        }
        let place = "in place of the playlist \(url.redacted)"
        if type?.isNotice == true || WebPage.begins(bytes ?? []) {
            return .logIn(.notDownloadable, "The origin sent a page or an error \(place)")
        }
        guard let bytes else { return nil }
        guard !bytes.isEmpty else { return RepriseError(.notDownloadable, "The origin sent nothing \(place).") }
        if let coding = information?.contentCoding {
            return RepriseError(
                .notDownloadable,
                "The origin sent the playlist \(url.redacted) encoded (Content-Encoding: \(coding)), which was not asked "
                    + "for: it cannot be read.")
        }
        return RepriseError(
            .notDownloadable,
            "The origin sent something else \(place): it begins neither with #EXTM3U nor with an MPD.")
    }
}

extension MediaCache.Configuration {
    /// Whether a download of a playlist is one of the stream: HLS and DASH; false by default.
    ///
    /// Without it a playlist is downloaded as the file that it is. ``Downloads/add(_:selection:)`` says what of the
    /// stream.
    public var downloadsStreams: Bool {
        get { streamPlanner != nil }
        set { streamPlanner = newValue ? PlaylistPlanner() : nil }
    }
}
