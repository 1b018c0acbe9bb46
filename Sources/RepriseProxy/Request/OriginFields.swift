import HTTPSemantics
import HTTPTypes
import Playlists

extension ClientHead {
    /// Fields of the client's request that are sent to the origin: end-to-end ones, except those that the cache handles
    /// and those that pretend to be another address, client or method.
    ///
    /// A browser's cookies are not forwarded: its jar holds those of all origins, and of other servers on this machine,
    /// as one site's. Of another device nothing is. Neither is a value with one of the server's tokens, whatever the
    /// field and its form.
    var originFields: HTTPFields {
        var fields = isFromDevice ? [:] : self.fields.endToEnd.filter { !$0.name.speaksForAnotherHop }
        for name in Self.notForwarded { fields[name] = nil }
        if !audience.isProgram { fields[.cookie] = nil }
        if !tellsPlayback, let playback = Self.playback { fields[playback] = nil }
        if case .other = method {
            // Nothing is cached here, so the conditions are the origin's to evaluate.
            for name in Self.conditions { fields[values: name] = self.fields[values: name] }
            if let referrer = fields[.referer], leadsHere(referrer) { fields[.referer] = nil }
        }
        if let tokens { fields = fields.filter { !tokens.isShown(in: $0.value) } }
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

    private static let playback = HTTPField.Name("X-Playback-Session-Id")

    private static let conditions = [
        "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "Referer",
    ]
    .compactMap { HTTPField.Name($0) }

    /// `Icy-MetaData` would interleave metadata with the bytes; conditions are evaluated here.
    private static let notForwarded = [
        "Host", "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
        "Accept-Encoding", "Icy-MetaData", "Content-Length", "Expect", "Origin", "Referer",
        "Reprise-Edge",
    ].compactMap { HTTPField.Name($0) }
}
