import Playlists

/// Whole playlists: what must hold of their links, and of every edit of them.
enum PlaylistTargets {
    /// A playlist of either format; the input is its text, behind the first line that names its format.
    static func read(_ bytes: [UInt8], behind head: String) {
        let text = Array(head.utf8) + bytes
        let context = HLSContext(
            url: URIReference("https://a.example/v/x/list?token=t"), imported: Variables(["v": "//b"]))
        guard let playlist = try? Playlist(text, context: context) else { return }
        check(playlist)
        if case .dash(let mpd) = playlist { checkSegments(mpd) }
    }

    private static func check(_ playlist: Playlist) {
        var (identity, replacement) = (PlaylistEditor(playlist.bytes), PlaylistEditor(playlist.bytes))
        let base = URIReference("https://a.example/v/x/list")
        var end = 0
        for link in playlist.links {
            precondition(end <= link.place.lowerBound && link.place.upperBound <= playlist.bytes.count)
            end = link.place.upperBound
            if case .range(let range) = link.extent { precondition(range.lowerBound >= 0 && !range.isEmpty) }
            if case .fetchable(let uri) = playlist.target(of: link, base: base) {
                precondition(uri.scheme == "http" || uri.scheme == "https")
                precondition(uri.bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F })
                precondition(uri.resolved(against: base) == uri)
            }
            guard (try? replacement.replace(link, with: "/https/h/a?b&c")) != nil else { return }
            let isXML = link.context != .line && link.context != .quotedString
            let value = isXML ? link.decoded ?? Array(playlist.bytes[link.place]) : Array(playlist.bytes[link.place])
            if let same = String(validating: value, as: UTF8.self) { try? identity.replace(link, with: same) }
        }
        precondition((try? identity.edited()) == playlist.bytes)
        guard let edited = try? replacement.edited(), let again = try? Playlist(edited) else {
            preconditionFailure("An edited list is none.")
        }
        precondition(again.links.map(\.kind) == playlist.links.map(\.kind))
    }

    private static func checkSegments(_ mpd: MPD) {
        for (period, sets) in mpd.periods.map(\.adaptationSets).enumerated() {
            for (set, representations) in sets.map(\.representations).enumerated() {
                for index in representations.indices {
                    let path = MPD.Path(period: period, adaptationSet: set, representation: index)
                    let base = URIReference("https://a.example/m.mpd")
                    precondition((try? mpd.segments(of: path, base: base, limit: 50).count) ?? 0 <= 50)
                    _ = mpd.initialization(of: path, base: base)
                }
            }
        }
    }

    /// The first line is a base, the rest a reference.
    static func resolve(_ bytes: [UInt8]) {
        let parts = bytes.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return }
        let base = URIReference(bytes: Array("https://a.example/".utf8) + parts[0])
        let reference = URIReference(bytes: Array(parts[1]))
        precondition(URIReference(bytes: reference.bytes) == reference)
        let target = reference.resolved(against: base)
        precondition(target.scheme != nil)
        precondition(target.resolved(against: base) == target)
        if case .relativePath(let climbing) = reference.form, climbing <= base.directoryDepth {
            precondition(target.authority == base.authority)
        }
    }
}
