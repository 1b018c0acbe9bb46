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

    /// How much of what a link names is stored.
    private enum Stored {
        case nothing, part, whole
    }

    /// The links of a media playlist of which something is stored.
    private struct StoredLinks {
        var whole: Set<Int> = []
        var begun: Set<Int> = []
    }

    let files: FileFinder
    let limits: PlaylistLimits

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
        let selection: OfflineSelection
        let begun: Int
        if list.kind == .media {
            var stored = try await storedLinks(of: list, at: document)
            begun = Self.share(stored, of: list).begun
            stored.whole.formUnion(try await playableAssets(of: list, at: document))
            selection = OfflineSelection(of: list) { stored.whole.contains($0) }
        } else {
            let shares = try await shares(of: list, at: document)
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

    /// The links of interstitials that name what plays without the origin; each file is looked up once.
    ///
    /// None to a list of assets: the links in it leave the proxy.
    private func playableAssets(of list: HLSPlaylist, at document: URIReference) async throws -> Set<Int> {
        var known: [LinkTarget: Bool] = [:]
        var playable: Set<Int> = []
        for index in list.media.interstitials.flatMap(\.links) where list.links[index].kind == .interstitialAsset {
            let target = list.target(of: list.links[index], base: document)
            if known[target] == nil, known.count < Self.mostAssets { known[target] = try await isPlayable(target) }
            if known[target] == true { playable.insert(index) }
        }
        return playable
    }

    /// Whether what an interstitial names plays without the origin: a file that is stored, or a playlist with all that
    /// one of its variants needs.
    private func isPlayable(_ target: LinkTarget) async throws -> Bool {
        guard try await isStored(.whole, of: target) else { return false }
        guard case .fetchable(let uri) = target, let url = try? ResourceURL(uri.withoutFragment.text),
            let (bytes, final) = try await storedText(at: url)
        else { return true }
        let base = URIReference(final.description)
        guard let asset = try? HLSPlaylist(bytes, context: HLSContext(url: base), limits: limits) else { return true }
        if asset.kind == .media { return try await share(of: asset, at: base).isWhole }
        let shares = try await shares(of: asset, at: base)
        return !OfflineSelection(of: asset) { shares[$0]?.isWhole ?? false }.isEmpty
    }

    /// What of `mpd` plays without the origin; `nil` if it goes on, or if nothing is stored of the picture or of the
    /// sound of a period: then all are named.
    ///
    /// Representations that are stored as wholes, or, without such, those of which something is stored. A period of
    /// which nothing is stored stays as it is.
    func selection(of mpd: MPD, at document: URIReference) async throws -> OfflineSelection? {
        guard mpd.root == .presentation, !mpd.isDynamic else { return nil }
        let periods = mpd.periods.enumerated().map { period, value in
            value.adaptationSets.enumerated().flatMap { set, adaptation in
                adaptation.representations.indices.map {
                    MPD.Path(period: period, adaptationSet: set, representation: $0)
                }
            }
        }
        var whole: Set<MPD.Path> = []
        for path in periods.joined() where try await isStored(path, of: mpd, at: document) { whole.insert(path) }
        let selection = OfflineSelection(of: mpd) { whole.contains($0) }
        guard selection.isEmpty else { return selection }
        // Only then, because it looks at each segment of what is not stored.
        var some: Set<MPD.Path> = []
        for paths in periods {
            var begun: Set<MPD.Path> = []
            for path in paths where try await hasMedia(path, of: mpd, at: document) { begun.insert(path) }
            some.formUnion(begun.isEmpty ? Set(paths) : begun)
        }
        let rest = OfflineSelection(of: mpd) { some.contains($0) }
        return rest.isEmpty ? nil : rest
    }

    /// Whether something of the segments of a representation is stored.
    private func hasMedia(_ path: MPD.Path, of mpd: MPD, at document: URIReference) async throws -> Bool {
        guard let segments = try? mpd.segments(of: path, base: document, limit: Self.mostSegments) else { return false }
        let initialization = mpd.initialization(of: path, base: document)
        for segment in segments {
            try Task.checkCancellation()
            guard case .fetchable(let uri) = segment.target, let url = try? ResourceURL(uri.withoutFragment.text),
                var stored = await (try files.resource(at: url)).stored()?.ranges
            else { continue }
            if let initialization, initialization.target == segment.target, case .range(let map) = initialization.extent
            {
                stored.remove(map)
            }
            if case .range(let range) = segment.extent { stored = stored.intersection(ByteRangeSet(range)) }
            if !stored.isEmpty { return true }
        }
        return false
    }

    private func isStored(_ path: MPD.Path, of mpd: MPD, at document: URIReference) async throws -> Bool {
        guard let segments = try? mpd.segments(of: path, base: document, limit: Self.mostSegments), !segments.isEmpty
        else { return false }
        if let map = mpd.initialization(of: path, base: document) {
            guard try await isStored(map.extent, of: map.target) else { return false }
        }
        for segment in segments {
            try Task.checkCancellation()
            guard try await isStored(segment.extent, of: segment.target) else { return false }
        }
        return true
    }

    /// How much is stored of what a multivariant playlist names, by the links.
    private func shares(of list: HLSPlaylist, at document: URIReference) async throws -> [Int: Share] {
        var shares: [Int: Share] = [:]
        for (index, link) in list.links.enumerated() {
            let target = list.target(of: link, base: document)
            switch link.kind {
            case .variant, .rendition, .iFrameVariant, .imageVariant:
                shares[index] = try await share(of: target, in: list)
            default:
                if try await isStored(link.extent, of: target) { shares[index] = Share(stored: 1, count: 1) }
            }
        }
        return shares
    }

    private func share(of target: LinkTarget, in list: HLSPlaylist) async throws -> Share {
        guard case .fetchable(let uri) = target, let url = try? ResourceURL(uri.text),
            let (bytes, final) = try await storedText(at: url)
        else { return Share() }
        let base = URIReference(final.description)
        let context = HLSContext(url: base, imported: list.variables)
        guard let media = try? HLSPlaylist(bytes, context: context, limits: limits), media.kind == .media else {
            return Share()
        }
        return try await share(of: media, at: base)
    }

    private func share(of media: HLSPlaylist, at base: URIReference) async throws -> Share {
        Self.share(try await storedLinks(of: media, at: base), of: media)
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

    /// The stored playlist at `url`, and the URL that it came from; `nil` if it is not stored as a whole.
    private func storedText(at url: ResourceURL) async throws -> (bytes: [UInt8], final: ResourceURL)? {
        let resource = try files.resource(at: url)
        guard let content = await resource.stored(), content.isComplete,
            content.information.completeLength ?? .max <= limits.size
        else { return nil }
        var directives = CacheControl()
        (directives.onlyIfCached, directives.maxStale) = (true, .any)
        do {
            let read = try await resource.read(directives: directives)
            defer { read.cancel() }
            var bytes: [UInt8] = []
            while let more = try await read.nextBytes() { bytes += more }
            return (bytes, content.information.finalURL ?? url)
        } catch let error as RepriseError where error.code == .notStored {
            return nil
        }
    }

    /// The links of a media playlist whose bytes are stored, other than those of interstitials.
    private func storedLinks(of list: HLSPlaylist, at base: URIReference) async throws -> StoredLinks {
        var links = StoredLinks()
        for (index, link) in list.links.enumerated()
        where link.kind != .interstitialAsset && link.kind != .interstitialList {
            try Task.checkCancellation()
            switch try await stored(link.extent, of: list.target(of: link, base: base)) {
            case .whole: links.whole.insert(index)
            case .part: links.begun.insert(index)
            case .nothing: break
            }
        }
        return links
    }

    /// Whether `extent` of the file at `target` is stored, or stands in the playlist itself.
    private func isStored(_ extent: ByteExtent, of target: LinkTarget) async throws -> Bool {
        try await stored(extent, of: target) == .whole
    }

    /// How much of `extent` of the file at `target` is stored, or stands in the playlist itself.
    private func stored(_ extent: ByteExtent, of target: LinkTarget) async throws -> Stored {
        if target == .leftAlone(.scheme("data")) { return .whole }
        guard case .fetchable(let uri) = target, let url = try? ResourceURL(uri.withoutFragment.text),
            let content = await (try files.resource(at: url)).stored()
        else { return .nothing }
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
