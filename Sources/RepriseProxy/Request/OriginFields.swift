import HTTPSemantics
import HTTPTypes
import Playlists
import Reprise

extension ClientHead {
    /// Fields of the client's request that are sent to the origin: end-to-end ones, except those that the cache handles
    /// and those that pretend to be another address, client or method.
    ///
    /// `Referer`, `Origin` and `Cookie` are forwarded for programs, as if the program sent the request to the origin
    /// itself. They are not forwarded for browsers. To a browser, all origins behind the proxy are one site, so its
    /// cookies belong to any of them, or to other servers on this machine. Its page belongs to the proxy or to another
    /// site. No fields are forwarded for another device. A value that contains one of the server's tokens is never
    /// forwarded, in whatever field and encoding.
    var originFields: HTTPFields {
        var fields = isFromDevice ? [:] : self.fields.endToEnd.filter { !$0.name.speaksForAnotherHop }
        for name in Self.notForwarded { fields[name] = nil }
        if audience.isProgram {
            if let referrer = fields[.referer], leadsHere(referrer) { fields[.referer] = urlBehind(referrer) }
            if let origin = fields[.origin], leadsHere(origin) { fields[.origin] = nil }
        } else {
            for name in [HTTPField.Name.cookie, .origin, .referer] { fields[name] = nil }
        }
        if let credentials = fields[.authorization], isDigestOfOwnTarget(credentials) { fields[.authorization] = nil }
        if !tellsPlayback, let playback = Self.playback { fields[playback] = nil }
        if case .other = method {
            // Nothing is cached here, so the conditions are the origin's to evaluate.
            for name in Self.conditions { fields[values: name] = self.fields[values: name] }
        }
        if let tokens { fields = fields.filter { !tokens.isShown(in: "\($0.name.rawName): \($0.value)") } }
        if let name = HTTPField.Name("Via") { fields.append(HTTPField(name: name, value: Via.request(by: serverName))) }
        return fields
    }

    /// `If-Range` as the origin may have it.
    var ifRange: String? { value("if-range").flatMap { tokens?.isShown(in: $0) == true ? nil : $0 } }

    /// Whether `url` has the address by which the client knows this server.
    private func leadsHere(_ url: String) -> Bool {
        guard let host = value("host"), let authority = URIReference(url).authority else { return false }
        return authority.lowercased() == host.lowercased()
    }

    /// The origin URL in an address of this server.
    private func urlBehind(_ address: String) -> String? {
        let reference = URIReference(address)
        let target = reference.path + (reference.query.map { "?\($0)" } ?? "")
        guard case .resource(let url)? = try? Route(target: target, token: pathToken) else { return nil }
        return url.description
    }

    /// Whether these are Digest credentials for this server's request target.
    ///
    /// An origin that compares the target with its own refuses them (RFC 7616 §3.4.6).
    private func isDigestOfOwnTarget(_ credentials: String) -> Bool {
        guard credentials.lowercased().hasPrefix("digest"),
            let start = credentials.firstRange(of: "uri=\"")?.upperBound
        else { return false }
        let uri = String(credentials[start...].prefix { $0 != "\"" })
        return uri == target || leadsHere(uri) || (try? Route(target: uri, token: pathToken))?.isOfResource == true
    }

    private static let playback = HTTPField.Name("X-Playback-Session-Id")

    private static let conditions = [
        "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
    ]
    .compactMap { HTTPField.Name($0) }

    /// `Icy-MetaData` would interleave metadata with the bytes; conditions are evaluated here.
    private static let notForwarded = [
        "Host", "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
        "Accept-Encoding", "Icy-MetaData", "Content-Length", "Expect", "Reprise-Edge",
    ].compactMap { HTTPField.Name($0) }
}
