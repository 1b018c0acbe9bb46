import Playlists
import Reprise

/// Where the links of one playlist lead through the proxy.
struct ProxyLinks {
    /// A base of a link: as the origin means it, and as a player has it who got the playlist from the proxy.
    private struct Base: Hashable {
        let original: URIReference
        let served: URIReference
    }

    private let playlist: Playlist
    private let prefix: String
    private let scheme: String
    private let host: String?
    /// The URL to which the origin's relative links refer, and the playlist's own URL at the proxy.
    private let document: Base
    /// The base to write into an MPD without one: after a redirect, relative links refer to where it was found.
    ///
    /// `nil` if the links can be written one by one, as they can unless representations with several bases share them.
    private(set) var insertedBase: String?
    /// Whether a link was met for which no text is right with all of its bases.
    private var isAmbiguous = false
    private var paths: BasePaths?
    /// The bases at the end of ways through `BaseURL` elements.
    private var bases: [BasePaths.Path: Base] = [:]
    /// What is written in place of a `BaseURL`, by its index.
    private var writtenBases: [Int: String?] = [:]

    /// Throws `budgetExceeded` and `canceled`.
    init(_ playlist: Playlist, of body: GatheredBody) throws(PlaylistError) {
        self.playlist = playlist
        (prefix, host, scheme) = (body.prefix, body.host, body.scheme)
        let origin = "\(body.scheme)://\(body.host ?? "proxy.invalid")"
        let served = URIReference(origin + Self.path(body.url.description, prefix: prefix))
        document = Base(original: URIReference(body.base.description), served: served)
        guard case .dash(let mpd) = playlist else { return }
        paths = BasePaths(mpd)
        let found = URIReference(".").resolved(
            against: URIReference(origin + Self.path(document.original.text, prefix: prefix))
        ).text
        let isMoved = found != URIReference(".").resolved(against: served).text
        let hasPlace = mpd.root == .presentation && mpd.baseURLs.isEmpty && mpd.contentStart != nil
        guard isMoved, hasPlace else { return }
        for link in mpd.links where !isAmbiguous { _ = try replacement(of: link) }
        guard isAmbiguous else { return }
        insertedBase = found
        (bases, writtenBases) = ([:], [:])
    }

    /// The text to write in place of `link`; `nil` if it stays as it is.
    ///
    /// If a link has several bases, one text must be right for all of them. Where none is, the first base counts.
    /// Throws `budgetExceeded` and `canceled`.
    mutating func replacement(of link: Link) throws(PlaylistError) -> String? {
        guard link.kind != .clock else { return nil }
        var wanted: [(text: String, served: URIReference)] = []
        var isRight = true
        let reference = playlist.reference(of: link)
        for base in try bases(of: link) {
            guard case .fetchable(let target) = playlist.target(of: link, base: base.original), !leadsToProxy(target)
            else {
                try playlist.budget.check()
                return nil
            }
            let path = Self.path((link.kind == .baseURL ? target.withPath : target).text, prefix: prefix)
            let served = try playlist.budget.resolve(reference, against: base.served)
            isRight = isRight && served.text == origin + path
            wanted.append((path, base.served))
        }
        guard !isRight, let first = wanted.first else { return nil }
        if wanted.contains(where: { $0.text != first.text }) {
            let relative = Set(wanted.map { Self.climbing(from: $0.served, to: $0.text, prefix: prefix) })
            if relative.count == 1, let text = relative.first ?? nil { return text }
            isAmbiguous = true
        }
        return host != nil && isAbsolute(link.kind) ? origin + first.text : first.text
    }

    private var origin: String { "\(scheme)://\(host ?? "proxy.invalid")" }

    // MARK: - Bases

    private mutating func bases(of link: Link) throws(PlaylistError) -> [Base] {
        guard case .dash(let mpd) = playlist, let ways = paths?.paths(to: link) else { return [document] }
        if link.kind.ignoresBaseURL { return [document] }
        // What a patch adds is relative to a place in another document.
        if mpd.root == .patch, !playlist.reference(of: link).namesHost { return [] }
        var result: [Base] = []
        for way in ways {
            let base = try base(along: way, of: mpd)
            if !result.contains(base) { result.append(base) }
        }
        return result
    }

    private mutating func base(along way: BasePaths.Path, of mpd: MPD) throws(PlaylistError) -> Base {
        guard let last = way.last else {
            guard let insertedBase else { return document }
            return Base(original: document.original, served: URIReference(insertedBase))
        }
        if let known = bases[way] { return known }
        let outer = try base(along: way.dropLast(), of: mpd)
        let link = mpd.links[last]
        let reference = mpd.reference(of: link)
        let written = try writtenBase(last, of: link).map { URIReference($0) } ?? reference
        let base = Base(
            original: try mpd.budget.resolve(reference, against: outer.original),
            served: try mpd.budget.resolve(written, against: outer.served))
        bases[way] = base
        return base
    }

    private mutating func writtenBase(_ index: Int, of link: Link) throws(PlaylistError) -> String? {
        if let known = writtenBases[index] { return known }
        let written = try replacement(of: link)
        writtenBases[index] = .some(written)
        return written
    }

    // MARK: - Forms

    /// Whether the link must be written as an absolute URL, with scheme and host.
    ///
    /// DASH players resolve paths against different bases. Interstitials need an absolute URI (rfc8216bis,
    /// appendix D.2). Readers of M3U lists, such as mpv, treat a path as a local file.
    private func isAbsolute(_ kind: LinkKind) -> Bool {
        switch playlist {
        case .dash: true
        case .hls(let list): list.isPlainList || kind == .interstitialAsset || kind == .interstitialList
        }
    }

    private func leadsToProxy(_ target: URIReference) -> Bool {
        guard let host, let authority = target.authority else { return false }
        return authority.lowercased() == host.lowercased()
    }

    /// `prefix/https/host/path`, letter for letter.
    static func path(_ url: String, prefix: String) -> String {
        guard let colon = url.firstIndex(of: ":") else { return url }
        return "\(prefix)/\(url[..<colon].lowercased())/\(url[colon...].dropFirst(3))"
    }

    /// The relative reference that leads from `served`, which stands for a file of some host, up to that host and down
    /// to `path`; `nil` if `path` is of another host.
    private static func climbing(from served: URIReference, to path: String, prefix: String) -> String? {
        let parts = served.path.dropFirst(prefix.count).split(
            separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        let root = "\(prefix)/\(parts[1])/\(parts[2])/"
        guard served.path.hasPrefix(root), path.hasPrefix(root) else { return nil }
        let depth = parts[3].count { $0 == "/" }
        let rest = path.dropFirst(root.count)
        // A first segment with a colon would be a scheme.
        return depth > 0 ? String(repeating: "../", count: depth) + rest : "./" + rest
    }
}
