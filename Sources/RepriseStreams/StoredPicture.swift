import Playlists
package import Reprise

extension MediaCache {
    /// Stored bytes of a title that begin with a picture: the beginning of a file, or an initialization section and a
    /// segment of a stream; `nil` if none are stored, or if the stream is encrypted.
    package func storedPicture(ofTitle key: CacheKey, policy: CacheKeyPolicy) async throws -> [UInt8]? {
        guard let inspector = await inspector() else { return nil }
        return try await DiskQueue.scans.runCancelable {
            try StoredFiles(inspector, policy: policy, loaded: []).picture(ofTitle: key)
        }
    }
}

extension StoredFiles {
    /// Most bytes of a file that are read for a picture.
    private static let longestPicture: Int64 = 8 << 20
    /// Most tracks, and most segments of each, that are looked up for one.
    private static let (mostTracks, mostSegments) = (8, 50)

    private typealias Part = (target: LinkTarget, extent: ByteExtent)

    fileprivate func picture(ofTitle key: CacheKey) throws -> [UInt8]? {
        guard let entry = try entry(under: key) else { return nil }
        guard let (playlist, base) = try playlist(of: entry) else {
            return try beginning(of: .whole, in: entry, atMost: Self.longestPicture)
        }
        let files = named(asIn: key)
        return switch playlist {
        case .hls(let list): try files.picture(of: list, base: base, in: key.partition)
        case .dash(let mpd): try files.picture(of: mpd, base: base, in: key.partition)
        }
    }

    private func picture(of list: HLSPlaylist, base: URIReference, in partition: String?) throws -> [UInt8]? {
        let segments = list.media.segments
        if !segments.isEmpty {
            let isClear = { (keySet: Int) in list.media.keySets[keySet].isEmpty }
            return try first(of: segments.count) { index in
                let segment = segments[index]
                let map = segment.map.map { list.media.maps[$0] }
                guard !segment.isGap, isClear(segment.keySet), map.map({ isClear($0.keySet) }) ?? true else {
                    return nil
                }
                let links = [map?.link, segment.link].compactMap(\.self)
                let parts = links.map { (list.target(of: list.links[$0], base: base), list.links[$0].extent) }
                return try joined(parts, in: partition)
            }
        }
        // The largest picture first.
        let variants = list.multivariant.variants.sorted { $0.resolution?.height ?? 0 > $1.resolution?.height ?? 0 }
        for link in variants.compactMap(\.link).prefix(Self.mostTracks) {
            guard let entry = entry(at: list.target(of: list.links[link], base: base), in: partition),
                case (.hls(let media), let base)?? = try? playlist(of: entry, importing: list.variables),
                !media.media.segments.isEmpty
            else { continue }
            if let found = try picture(of: media, base: base, in: partition) { return found }
        }
        return nil
    }

    private func picture(of mpd: MPD, base: URIReference, in partition: String?) throws -> [UInt8]? {
        let pictures = mpd.paths.filter { path in
            let set = mpd.periods[path.period].adaptationSets[path.adaptationSet]
            return StreamTrack(set.representations[path.representation], of: set).kind == .video
        }
        for path in pictures.prefix(Self.mostTracks) {
            // Enough to begin after a tenth of three hours.
            let segments = Array(try mpd.segments(of: path, base: base).prefix(5000))
            let initialization = mpd.initialization(of: path, base: base)
            let found = try first(of: segments.count) { index in
                let parts = [initialization, segments[index]].compactMap(\.self)
                return try joined(parts.map { ($0.target, $0.extent) }, in: partition)
            }
            if let found { return found }
        }
        return nil
    }

    /// The first result of `read` for one of `count` segments.
    ///
    /// It begins after a tenth of them, because many films begin in the dark.
    private func first(of count: Int, _ read: (Int) throws -> [UInt8]?) rethrows -> [UInt8]? {
        for index in 0..<min(count, Self.mostSegments) {
            if let bytes = try read((count / 10 + index) % count) { return bytes }
        }
        return nil
    }

    /// The bytes of `parts` if the beginning of each is stored.
    private func joined(_ parts: [Part], in partition: String?) throws -> [UInt8]? {
        var bytes: [UInt8] = []
        for part in parts {
            guard let entry = entry(at: part.target, in: partition),
                let more = try beginning(of: part.extent, in: entry, atMost: Self.longestPicture)
            else { return nil }
            bytes += more
        }
        return bytes
    }

    private func entry(at target: LinkTarget, in partition: String?) -> CacheEntry? {
        guard case .fetchable(let uri) = target, let url = try? ResourceURL(uri.text) else { return nil }
        return entry(at: url, in: partition)
    }
}
