import Playlists
import Reprise

/// Plans the export of an HLS stream: the variants and renditions that are stored as wholes, in groups that are still
/// consistent, and the files that they name.
struct HLSExporter {
    private(set) var plan = ExportPlan()
    /// The renditions with subtitles that are exported.
    private(set) var subtitles: [StreamExport.Subtitles] = []
    /// The playlists with sound or pictures, in the order of the outermost one.
    private(set) var timedLists: [HLSParts.Source] = []
    /// How long it plays; `nil` if that is not known.
    var playingTime: PlayingTime? { PlayingTime(tracks: times) }
    /// The times of the tracks with sound or a picture.
    private var times: [PlayingTime] = []
    private var extents: StoredExtents
    private var names = ExportNames()
    /// The media playlists that were looked at, by their URLs.
    private var tracks: [String: HLSTrack] = [:]
    /// Where exported files are.
    private var paths: [CacheKey: String] = [:]
    private var listPaths: [String: String] = [:]

    /// Plans the export of `list`, the outermost playlist at `entry`, under `name`.
    ///
    /// Throws ``RepriseError``: `notStored` if nothing of it is stored as a whole, and `notDownloadable` if it is live
    /// or protected, or has nothing of what is selected.
    init(
        _ list: HLSPlaylist, of entry: CacheEntry, named name: String, selection: StreamSelection?,
        in files: StoredFiles
    ) throws {
        extents = StoredExtents(files)
        let base = URIReference((entry.information.finalURL ?? entry.url).description)
        if list.kind == .media {
            let track = try HLSTrack(list, base: base, in: &extents)
            if let shortfall = track.shortfall {
                throw Shortfall.error([(entry.url.lastPathComponent, shortfall)], of: entry.url)
            }
            try add(track, at: name, filesIn: names.folder("media"))
            times = PlayingTime(of: list).map { [$0] } ?? []
            timedLists = [HLSParts.Source(path: name, language: nil)]
        } else {
            let whole = try selected(try stored(list, base: base, of: entry.url), base: base, by: selection)
            try add(whole, base: base, at: name)
        }
    }

    // MARK: - The multivariant playlist

    private static let listKinds: [LinkKind: String] = [
        .variant: "variant", .rendition: "rendition", .iFrameVariant: "iframes", .imageVariant: "images",
    ]

    /// `list` with only those variants and renditions that are stored as wholes.
    private mutating func stored(
        _ list: HLSPlaylist, base: URIReference, of url: ResourceURL
    ) throws -> HLSPlaylist {
        var whole: Set<Int> = []
        var lacking: [(name: String, shortfall: Shortfall)] = []
        for (index, link) in list.links.enumerated() {
            let target = list.target(of: link, base: base)
            guard Self.listKinds[link.kind] != nil else {
                if try extents.entry(holding: .whole, at: target) != nil { whole.insert(index) }
                continue
            }
            guard let shortfall = try shortfall(of: target, in: list) else {
                whole.insert(index)
                continue
            }
            let name = list.reference(of: link).path.split(separator: "/").last.map(String.init) ?? ""
            if !lacking.contains(where: { $0.name == name }) { lacking.append((name, shortfall)) }
        }
        let selection = OfflineSelection(of: list) { whole.contains($0) }
        guard !selection.isEmpty else { throw Shortfall.error(lacking, of: url) }
        return try list.keeping(selection, base: base)
    }

    /// What is missing of the playlist at `target`; it is remembered.
    private mutating func shortfall(of target: LinkTarget, in list: HLSPlaylist) throws(RepriseError) -> Shortfall? {
        guard case .fetchable(let uri) = target else { return .unlisted }
        if let known = tracks[uri.withoutFragment.text] { return known.shortfall }
        guard let entry = try extents.entry(holding: .whole, at: target),
            let bytes = extents.files.playlistBytes(of: entry)
        else { return .unlisted }
        let base = URIReference((entry.information.finalURL ?? entry.url).description)
        let context = HLSContext(url: base, imported: list.variables)
        guard let media = try? HLSPlaylist(bytes, context: context), media.kind == .media else { return .unlisted }
        let track = try HLSTrack(media, base: base, in: &extents)
        tracks[uri.withoutFragment.text] = track
        return track.shortfall
    }

    /// `list` with only what `selection` means; all of it without one.
    private func selected(
        _ list: HLSPlaylist, base: URIReference, by selection: StreamSelection?
    ) throws -> HLSPlaylist {
        guard let selection else { return list }
        let chosen = try HLSSelection(list, by: selection).links
        let narrowed = OfflineSelection(of: list) { index in
            Self.listKinds[list.links[index].kind] == nil || chosen.contains(index)
        }
        return try list.keeping(narrowed, base: base)
    }

    private mutating func add(_ list: HLSPlaylist, base: URIReference, at path: String) throws {
        var links: [Int: String] = [:]
        for (index, link) in list.links.enumerated() {
            let target = list.target(of: link, base: base)
            if let word = Self.listKinds[link.kind] {
                let kind = kind(of: link, in: list) ?? word
                let place = try addList(at: target, kind: kind)
                if kind == Self.subtitlesKind { note(link, in: list, leadingTo: target, at: place) }
                if Self.timedKinds.contains(kind), !timedLists.contains(where: { $0.path == place }) {
                    let language = list.rendition(at: link)?.language
                    timedLists.append(HLSParts.Source(path: place, language: language))
                }
                links[index] = place
            } else if let ending = Self.sessionEndings[link.kind],
                let entry = try extents.entry(holding: .whole, at: target)
            {
                let place = self.path(of: entry, link: link.kind, in: "session", ending: { _ in ending })
                try add(link.extent, of: entry, at: place)
                links[index] = place
            }
        }
        plan.add(try list.written(links: links), at: path)
    }

    private static let subtitlesKind = "subtitles"
    private static let timedKinds: Set<String> = ["variant", "audio", "video"]

    /// Notes a playlist of subtitles at `path`, once.
    private mutating func note(_ link: Link, in list: HLSPlaylist, leadingTo target: LinkTarget, at path: String) {
        guard case .fetchable(let uri) = target, !subtitles.contains(where: { $0.path == path }) else { return }
        let rendition = list.rendition(at: link)
        let media = tracks[uri.withoutFragment.text]?.list.media
        subtitles.append(
            StreamExport.Subtitles(
                path: path, name: rendition?.name, language: rendition?.language,
                isDefault: rendition?.isDefault ?? false, isForced: rendition?.isForced ?? false,
                isText: media.map { $0.maps.isEmpty && $0.keys.isEmpty } ?? false))
    }

    /// What a rendition is called in names of folders.
    private func kind(of link: Link, in list: HLSPlaylist) -> String? {
        switch list.rendition(at: link)?.kind {
        case .audio: return "audio"
        case .video: return "video"
        case .subtitles: return Self.subtitlesKind
        default: return nil
        }
    }

    /// Adds the media playlist at `target` in a folder of its own, once; returns its path.
    private mutating func addList(at target: LinkTarget, kind: String) throws -> String {
        guard case .fetchable(let uri) = target, let track = tracks[uri.withoutFragment.text] else {
            throw RepriseError(.notStored, "A playlist of the stream is not stored. Download the stream first.")
        }
        if let path = listPaths[uri.withoutFragment.text] { return path }
        let folder = names.folder(kind)
        let path = "\(folder)/index.m3u8"
        listPaths[uri.withoutFragment.text] = path
        try add(track, at: path, filesIn: folder)
        if Self.timedKinds.contains(kind), let time = PlayingTime(of: track.list) { times.append(time) }
        return path
    }

    // MARK: - Media playlists

    /// Adds the playlist of `track` at `path`, and its files in `folder`, except those that another playlist named
    /// first.
    private mutating func add(_ track: HLSTrack, at path: String, filesIn folder: String) throws {
        let list = track.list
        let gaps = Set(list.media.segments.filter(\.isGap).map(\.link))
        let own = path.contains("/") ? folder : ""
        var links: [Int: String] = [:]
        for (index, link) in list.links.enumerated() {
            switch link.kind {
            case .segment, .image: break
            case .map where track.usedLinks.contains(index), .key where track.usedLinks.contains(index): break
            // Parts, hints, reports and advertisements help only with an origin; other keys belong to rights systems,
            // and keys and maps may have no segments.
            default: continue
            }
            let ending = { (entry: CacheEntry?) in Self.ending(of: link, in: list, entry: entry) }
            if gaps.contains(index) {
                let place = names.file("gap", in: folder, extension: ending(nil))
                links[index] = ExportNames.link(from: own, to: place)
            } else if let entry = track.entries[index] {
                let place = self.path(of: entry, link: link.kind, in: folder, ending: ending)
                try add(link.extent, of: entry, at: place)
                links[index] = ExportNames.link(from: own, to: place)
            } else if list.target(of: link, base: track.base) == .leftAlone(.scheme("data")) {
                links[index] = list.reference(of: link).text
            }
        }
        plan.add(try list.written(links: links), at: path)
    }

    /// ffmpeg, and what is made with it, opens files of a playlist on disk by their extensions, keys too, and has none
    /// for keys on its list.
    private static let keyEnding = "ts"
    private static let sessionEndings: [LinkKind: String] = [.sessionKey: keyEnding, .sessionData: "json"]

    private static func ending(of link: Link, in list: HLSPlaylist, entry: CacheEntry?) -> String {
        let fallback: String
        switch link.kind {
        case .key: return keyEnding
        case .map: fallback = "mp4"
        case .image: fallback = "jpg"
        default: fallback = list.media.maps.isEmpty ? "ts" : "m4s"
        }
        return ExportNames.ending(
            of: list.reference(of: link), mediaType: entry?.information.mediaType, otherwise: fallback)
    }

    // MARK: - Files

    /// Where the file of `entry` is, or will be.
    private mutating func path(
        of entry: CacheEntry, link kind: LinkKind, in folder: String, ending: (CacheEntry?) -> String
    ) -> String {
        if let path = paths[entry.key] { return path }
        let word: String
        switch kind {
        case .key, .sessionKey: word = "key"
        case .map: word = "init"
        case .sessionData: word = "data"
        default: word = "segment"
        }
        let path = names.file(word, in: folder, extension: ending(entry))
        paths[entry.key] = path
        return path
    }

    private mutating func add(_ extent: ByteExtent, of entry: CacheEntry, at path: String) throws(RepriseError) {
        guard plan.add(extent, of: entry, at: path) else { throw ExportPlan.collision }
    }
}

extension HLSPlaylist {
    /// The rendition whose playlist is at `link`.
    fileprivate func rendition(at link: Link) -> Rendition? {
        multivariant.renditions.first { $0.link.map { links[$0] } == link }
    }

    /// The playlist with only what `selection` keeps.
    fileprivate func keeping(_ selection: OfflineSelection, base: URIReference) throws -> HLSPlaylist {
        var editor = PlaylistEditor(bytes)
        try editor.keep(selection)
        return try HLSPlaylist(try editor.edited(), context: HLSContext(url: base))
    }
}
