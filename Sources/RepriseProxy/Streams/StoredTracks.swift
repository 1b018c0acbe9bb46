import ByteRanges
import HTTPSemantics
import Playlists
import Reprise

/// How much is stored of the playlists that a playlist names; nothing is asked of the origin.
struct StoredTracks {
    /// How many segments of a playlist are stored with their maps and keys.
    private struct Share {
        var stored = 0
        var count = 0
        /// Those that do not play although bytes of them are stored.
        var begun = 0

        var isWhole: Bool { count > 0 && stored == count }
    }

    /// The links of a media playlist of which something is stored.
    private struct StoredLinks {
        var whole: Set<Int> = []
        var begun: Set<Int> = []
    }

    /// A playlist with the targets of its links.
    private struct Listed {
        let list: HLSPlaylist
        let targets: [LinkTarget]

        init(_ list: HLSPlaylist, at base: URIReference) {
            self.list = list
            targets = list.links.map { list.target(of: $0, base: base) }
        }
    }

    let files: FileFinder
    let limits: PlaylistLimits
    var playlists = RememberedPlaylists.shared

    /// Most segments of a representation that are looked up, hours of film; one with more counts as not stored.
    private static let mostSegments = 20_000

    /// Most files of interstitials that are looked up for a playlist, because a playlist among them costs as much as
    /// the one that names it; further ones count as not stored.
    private static let mostAssets = 200

    /// What of `list` plays without the origin.
    ///
    /// Variants that are stored as wholes, or, without such, those of which something is stored. Throws `notStored` if
    /// nothing is left.
    func selection(of list: HLSPlaylist, at document: URIReference) async throws -> OfflineSelection {
        let listed = Listed(list, at: document)
        let selection: OfflineSelection
        let begun: Int
        if list.kind == .media {
            let stored = try await StoredExtents(listed.targets, in: files)
            var links = Self.storedLinks(of: listed, in: stored)
            begun = Self.share(links, of: list).begun
            links.whole.formUnion(try await playableAssets(of: listed, in: stored))
            selection = OfflineSelection(of: list) { links.whole.contains($0) }
        } else {
            let shares = try await shares(of: listed)
            begun = shares.reduce(0) { sum, share in
                let kind = list.links[share.key].kind
                let isTrack = kind == .variant || kind == .rendition
                return isTrack ? sum + share.value.begun + share.value.stored : sum
            }
            let whole = OfflineSelection(of: list) { shares[$0]?.isWhole ?? false }
            selection = whole.isEmpty ? OfflineSelection(of: list) { shares[$0]?.stored ?? 0 > 0 } : whole
        }
        guard !selection.isEmpty else { throw Self.nothing(besides: begun) }
        return selection
    }

    /// The error for a stream that does not play at all; bytes are stored of so many of its segments.
    private static func nothing(besides begun: Int) -> RepriseError {
        guard begun > 0 else {
            return RepriseError(.notStored, "Nothing of the stream is stored, and the origin is not there to be asked.")
        }
        let segments = begun == 1 ? "1 segment" : "\(begun) segments"
        return RepriseError(
            .notStored,
            "Bytes of \(segments) of the stream are stored, but none with all that it takes to play, such as the rest of "
                + "it, its key or its sound, and the origin is not there to be asked.")
    }

    /// The links of interstitials whose assets play without the origin; each file is checked once.
    ///
    /// None to a list of assets: the links in it leave the proxy.
    private func playableAssets(of listed: Listed, in stored: StoredExtents) async throws -> Set<Int> {
        var known: [LinkTarget: Bool] = [:]
        var playable: Set<Int> = []
        for index in listed.list.media.interstitials.flatMap(\.links)
        where listed.list.links[index].kind == .interstitialAsset {
            let target = listed.targets[index]
            if known[target] == nil, known.count < Self.mostAssets {
                known[target] = try await isPlayable(target, in: stored)
            }
            if known[target] == true { playable.insert(index) }
        }
        return playable
    }

    /// Whether what an interstitial names plays without the origin: a file that is stored, or a playlist with all that
    /// one of its variants needs.
    private func isPlayable(_ target: LinkTarget, in stored: StoredExtents) async throws -> Bool {
        guard stored.share(of: .whole, at: target) == .whole else { return false }
        guard let asset = try await playlist(at: target, importing: nil, in: stored) else { return true }
        if asset.list.kind == .media {
            let stored = try await StoredExtents(asset.targets, in: files)
            return Self.share(Self.storedLinks(of: asset, in: stored), of: asset.list).isWhole
        }
        let shares = try await shares(of: asset)
        return !OfflineSelection(of: asset.list) { shares[$0]?.isWhole ?? false }.isEmpty
    }

    /// What of `mpd` plays without the origin; `nil` if it goes on, or if nothing is stored of the picture or of the
    /// sound of a period: then all are named.
    ///
    /// Representations that are stored as wholes, or, without such, those of which something is stored. A period of
    /// which nothing is stored stays as it is.
    func selection(of mpd: MPD, at document: URIReference) async throws -> OfflineSelection? {
        guard mpd.root == .presentation, !mpd.isDynamic else { return nil }
        let maps = mpd.paths.map { ($0, mpd.initialization(of: $0, base: document)) }
        let stored = try await StoredExtents(maps.compactMap { $1?.target }, in: files)
        // Check the first file of each representation, because most have no stored bytes.
        let candidates = maps.filter { path, map in map.map { stored.holds($0) } ?? true }.map(\.0)
        var whole: Set<MPD.Path> = []
        try await withSegments(of: candidates, in: mpd, at: document) { path, segments, stored in
            if !segments.isEmpty, segments.allSatisfy({ stored.holds($0) }) { whole.insert(path) }
        }
        let selection = OfflineSelection(of: mpd) { whole.contains($0) }
        guard selection.isEmpty else { return selection }
        // Only then, because it looks at each segment of what is not stored.
        let initializations = Dictionary(maps) { first, _ in first }
        var begun: Set<MPD.Path> = []
        try await withSegments(of: mpd.paths, in: mpd, at: document) { path, segments, stored in
            let map = initializations[path] ?? nil
            if segments.contains(where: { stored.holdsMedia(of: $0, besides: map) }) { begun.insert(path) }
        }
        let periods = Set(begun.map(\.period))
        let rest = OfflineSelection(of: mpd) { begun.contains($0) || !periods.contains($0.period) }
        return rest.isEmpty ? nil : rest
    }

    /// Calls `body` with the segments and the stored bytes of each representation that has a known end.
    private func withSegments(
        of paths: [MPD.Path], in mpd: MPD, at document: URIReference,
        _ body: (MPD.Path, [DASHSegment], StoredExtents) -> Void
    ) async throws {
        let lists = paths.compactMap { path in
            (try? mpd.segments(of: path, base: document, limit: Self.mostSegments)).map { (path, $0) }
        }
        // Each lookup counts as a step. Fail before the first lookup if there are too many.
        try mpd.budget.spend(steps: lists.reduce(0) { $0 + $1.1.count })
        var (group, count) = ([(MPD.Path, [DASHSegment])](), 0)
        for (index, (path, segments)) in lists.enumerated() {
            group.append((path, Array(segments)))
            count += segments.count
            guard count >= StoredExtents.mostPerRead || index == lists.count - 1 else { continue }
            let stored = try await StoredExtents(group.flatMap { $1.map(\.target) }, in: files)
            for (path, segments) in group { body(path, segments, stored) }
            (group, count) = ([], 0)
        }
    }

    /// How much is stored of what a multivariant playlist names, by the links.
    private func shares(of outer: Listed) async throws -> [Int: Share] {
        let stored = try await StoredExtents(outer.targets, in: files)
        var shares: [Int: Share] = [:]
        var links: [LinkTarget: [Int]] = [:]
        for (index, (link, target)) in zip(outer.list.links, outer.targets).enumerated() {
            switch link.kind {
            case .variant, .rendition, .iFrameVariant, .imageVariant: links[target, default: []].append(index)
            default:
                if stored.share(of: link.extent, at: target) == .whole { shares[index] = Share(stored: 1, count: 1) }
            }
        }
        var (group, count) = ([(links: [Int], media: Listed)](), 0)
        func finish() async throws {
            let stored = try await StoredExtents(group.lazy.flatMap(\.media.targets), in: files)
            for (links, media) in group {
                let share = Self.share(Self.storedLinks(of: media, in: stored), of: media.list)
                for link in links { shares[link] = share }
            }
            (group, count) = ([], 0)
        }
        for (target, links) in links {
            guard let media = try await playlist(at: target, importing: outer.list.variables, in: stored),
                media.list.kind == .media
            else { continue }
            // Lookups cost more than other steps.
            try outer.list.budget.spend(steps: 2 * media.targets.count)
            group.append((links, media))
            count += media.targets.count
            if count >= StoredExtents.mostPerRead { try await finish() }
        }
        try await finish()
        return shares
    }

    private static func share(_ stored: StoredLinks, of media: HLSPlaylist) -> Share {
        let count = media.media.segments.count { !$0.isGap }
        let missing = OfflineSelection.missingSegments(of: media) { stored.whole.contains($0) }
        let begun = missing.count { index in
            let link = media.media.segments[index].link
            return stored.begun.contains(link) || stored.whole.contains(link)
        }
        return Share(stored: count - missing.count, count: count, begun: begun)
    }

    /// The stored HLS playlist at `target`; `nil` if the file is incomplete, or not an HLS playlist.
    private func playlist(
        at target: LinkTarget, importing variables: Variables?, in stored: StoredExtents
    ) async throws -> Listed? {
        guard let (resource, content) = stored.file(at: target), content.isComplete,
            content.information.completeLength ?? .max <= limits.size
        else { return nil }
        let base = URIReference((content.information.finalURL ?? resource.url).description)
        let context = HLSContext(url: base, imported: variables)
        let key = RememberedPlaylists.Key(
            generation: content.information.generation, of: resource.key.text, context: context)
        let playlist: Playlist?
        if let known = playlists[key] {
            playlist = try? known.get()
        } else {
            guard let bytes = try await text(of: resource, generation: content.information.generation) else {
                return nil
            }
            playlist = try? await DiskQueue.largePlaylists.runCancelable {
                try playlists.playlist(for: key, reading: bytes, limits: limits)
            }
        }
        guard case .hls(let list)? = playlist else { return nil }
        return Listed(list, at: base)
    }

    /// The stored bytes of `resource`; `nil` if they no longer belong to this generation.
    private func text(of resource: MediaResource, generation: String) async throws -> [UInt8]? {
        var directives = CacheControl()
        (directives.onlyIfCached, directives.maxStale) = (true, .any)
        do {
            let read = try await resource.read(directives: directives)
            defer { read.cancel() }
            guard read.information.generation == generation else { return nil }
            var bytes: [UInt8] = []
            while let more = try await read.nextBytes() { bytes += more }
            return bytes
        } catch let error as RepriseError where error.code == .notStored {
            return nil
        }
    }

    /// The links of a media playlist whose bytes are stored, other than those of interstitials.
    private static func storedLinks(of listed: Listed, in stored: StoredExtents) -> StoredLinks {
        var links = StoredLinks()
        for (index, (link, target)) in zip(listed.list.links, listed.targets).enumerated()
        where link.kind != .interstitialAsset && link.kind != .interstitialList {
            switch stored.share(of: link.extent, at: target) {
            case .whole: links.whole.insert(index)
            case .part: links.begun.insert(index)
            case .nothing: break
            }
        }
        return links
    }
}

/// The stored extents of many files.
private struct StoredExtents {
    /// The stored share of a link's extent.
    enum Share {
        case nothing, part, whole
    }

    private var files: [LinkTarget: (resource: MediaResource, content: StoredContent)] = [:]

    /// Maximum number of files of one index read, so that other requests get their turn.
    static let mostPerRead = 2_000

    /// Looks up the files at `targets`, and keeps those of which bytes are stored.
    init(_ targets: some Sequence<LinkTarget>, in finder: FileFinder) async throws {
        var rest = Array(Set(targets))[...]
        while !rest.isEmpty {
            var resources: [(target: LinkTarget, resource: MediaResource)] = []
            for target in rest.prefix(Self.mostPerRead) {
                guard case .fetchable(let uri) = target, let url = try? ResourceURL(uri.withoutFragment.text) else {
                    continue
                }
                resources.append((target, try finder.resource(at: url)))
            }
            rest = rest.dropFirst(Self.mostPerRead)
            try Task.checkCancellation()
            for (file, content) in zip(resources, await MediaResource.stored(resources.map(\.resource))) {
                if let content { files[file.target] = (file.resource, content) }
            }
            try Task.checkCancellation()
        }
    }

    func file(at target: LinkTarget) -> (resource: MediaResource, content: StoredContent)? { files[target] }

    /// Whether `segment` is completely stored, or embedded in the playlist as a `data:` URL.
    func holds(_ segment: DASHSegment) -> Bool { share(of: segment.extent, at: segment.target) == .whole }

    /// Whether any bytes of `segment` outside the initialization `map` are stored.
    func holdsMedia(of segment: DASHSegment, besides map: DASHSegment?) -> Bool {
        guard var stored = files[segment.target]?.content.ranges else { return false }
        if let map, map.target == segment.target, case .range(let range) = map.extent { stored.remove(range) }
        if case .range(let range) = segment.extent { stored = stored.intersection(ByteRangeSet(range)) }
        return !stored.isEmpty
    }

    /// The stored share of `extent` in the file at `target`; `data:` URLs count as stored.
    func share(of extent: ByteExtent, at target: LinkTarget) -> Share {
        if target == .leftAlone(.scheme("data")) { return .whole }
        guard let content = files[target]?.content else { return .nothing }
        let length = content.information.completeLength
        let wanted: Range<Int64>? =
            switch extent {
            case .whole, .unplaced: length.map { 0..<$0 }
            case .from(let start): length.map { start..<max(start, $0) }
            case .range(let range): range
            }
        guard let wanted else { return content.ranges.isEmpty ? .nothing : .part }
        if content.ranges.contains(wanted) { return .whole }
        return content.ranges.intersection(ByteRangeSet(wanted)).isEmpty ? .nothing : .part
    }
}
