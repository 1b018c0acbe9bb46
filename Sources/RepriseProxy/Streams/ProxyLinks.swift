import Playlists
import Reprise

/// Where the links of one playlist lead through the proxy.
struct ProxyLinks {
    private let playlist: Playlist
    /// The URL to which the origin's relative links refer.
    private let document: URIReference
    /// The playlist's own URL at the proxy, to which a player resolves relative links.
    private let served: URIReference
    private let prefix: String
    private let host: String?

    init(_ playlist: Playlist, of body: GatheredBody) {
        self.playlist = playlist
        document = URIReference(body.base.description)
        prefix = body.prefix
        host = body.host
        served = URIReference("http://\(body.host ?? "proxy.invalid")" + Self.path(body.url.description, prefix))
    }

    /// The text to write in place of `link`; `nil` if it stays as it is.
    func replacement(of link: Link) -> String? {
        guard link.kind != .clock, case .fetchable(let target) = playlist.target(of: link, base: base(of: link)),
            !leadsToProxy(target)
        else { return nil }
        let path = Self.path(target.text, prefix)
        let wanted = "http://\(host ?? "proxy.invalid")" + path
        guard playlist.reference(of: link).resolved(against: servedBase(of: link)).text != wanted else { return nil }
        return host != nil && isAbsolute(link.kind) ? wanted : path
    }

    /// The URI to which the origin meant `link` to be relative.
    private func base(of link: Link) -> URIReference {
        switch playlist {
        case .hls: document
        case .dash(let mpd): mpd.base(of: link, documentURL: document)
        }
    }

    /// The URI to which a player resolves `link` once all bases are rewritten.
    private func servedBase(of link: Link) -> URIReference {
        guard case .dash(let mpd) = playlist, let index = link.base, mpd.links.indices.contains(index) else {
            return served
        }
        let base = mpd.links[index]
        guard case .fetchable(let target) = playlist.target(of: base, base: self.base(of: base)),
            !leadsToProxy(target)
        else { return self.base(of: link) }
        return URIReference("http://\(host ?? "proxy.invalid")" + Self.path(target.text, prefix))
    }

    /// Whether the link is written with scheme and host: players of DASH resolve a path against different bases, and
    /// interstitials need an absolute URI (rfc8216bis, appendix D.2).
    private func isAbsolute(_ kind: LinkKind) -> Bool {
        if case .dash = playlist { return true }
        return kind == .interstitialAsset || kind == .interstitialList
    }

    private func leadsToProxy(_ target: URIReference) -> Bool {
        guard let host, let authority = target.authority else { return false }
        return authority.lowercased() == host.lowercased()
    }

    /// `prefix/https/host/path`, letter for letter.
    private static func path(_ url: String, _ prefix: String) -> String {
        guard let colon = url.firstIndex(of: ":") else { return url }
        return "\(prefix)/\(url[..<colon].lowercased())/\(url[colon...].dropFirst(3))"
    }
}
