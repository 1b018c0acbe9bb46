public import HTTPTypes

extension HTTPFields {
    /// The fields that belong to the message rather than to one connection (RFC 9110 §7.6.1).
    ///
    /// Excludes Connection and every field that it names, Keep-Alive, Proxy-Connection, TE, Trailer, Transfer-Encoding,
    /// Upgrade, and the proxy authentication fields, which RFC 9111 §3.1 forbids storing.
    public var endToEnd: HTTPFields {
        var dropped = Self.hopByHop
        for value in self[values: .connection] {
            for option in value.utf8.split(separator: UInt8(ascii: ",")) {
                let name = option.filter { !FieldScanner.isWhitespace($0) }
                dropped.insert(String(decoding: name, as: UTF8.self).lowercased())
            }
        }
        return filter { !dropped.contains($0.name.canonicalName) }
    }

    private static var hopByHop: Set<String> {
        [
            "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
            "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        ]
    }
}
