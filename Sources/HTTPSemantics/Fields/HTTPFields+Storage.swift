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

    /// The fields of a response that are worth storing: end-to-end ones (RFC 9111 §3.1), except those named by
    /// `no-cache` or, in a shared cache, by `private`, because they could not be reused without validation (RFC 9111
    /// §5.2.2).
    public func storable(isShared: Bool) -> HTTPFields {
        let control = CacheControl(self)
        let dropped = Set(control.noCacheFields + (isShared ? control.privateFields : []))
        let fields = endToEnd
        return dropped.isEmpty ? fields : fields.filter { !dropped.contains($0.name.canonicalName) }
    }

    /// These stored fields, updated by a response that validated them (RFC 9111 §3.2).
    ///
    /// Fields in the response replace the stored ones. Fields that describe the stored bytes are kept, because they
    /// belong to the message that brought the bytes.
    public func freshened(by response: HTTPFields, isShared: Bool) -> HTTPFields {
        let news = response.storable(isShared: isShared).filter { !Self.ofBody.contains($0.name.canonicalName) }
        var result = self
        for name in Set(news.map(\.name)) { result[values: name] = [] }
        // Age describes one transfer; a response without it comes straight from the origin.
        result[.age] = nil
        for field in news { result.append(field) }
        return result
    }

    private static var ofBody: Set<String> {
        ["content-length", "content-encoding", "content-range", "transfer-encoding"]
    }

    /// The first content coding that changes the bytes, in lowercase, such as `gzip`; `nil` if there is none.
    ///
    /// Only registered codings count. Other values that servers send, such as `none`, `utf-8` or S3's `aws-chunked`,
    /// leave the bytes of the file unchanged.
    package var contentCoding: String? {
        self[values: .contentEncoding].lazy.flatMap { $0.split(separator: ",") }
            .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            .first { Self.contentCodings.contains($0) }
    }

    /// The registered content codings (IANA), without `identity`.
    private static let contentCodings: Set<String> = [
        "aes128gcm", "br", "compress", "dcb", "dcz", "deflate", "exi", "gzip", "pack200-gzip", "x-compress", "x-gzip",
        "zstd",
    ]

    /// Names of request fields, in lowercase, that may change the response although they are not part of the cache key.
    ///
    /// These are private fields (`X-…`) and fields that name an address, a page, a client or a method, except those
    /// known not to change the response. A shared cache stores the response to a request with such a field only if Vary
    /// names the field. Otherwise, one client's preferences would apply to all clients.
    package var unkeyed: Set<String> {
        Set(map(\.name.canonicalName).filter { Self.isSuspect($0) && !Self.harmless.contains($0) })
    }

    /// These fields of a request, without those that may change the response and are not named by `vary`.
    package func withoutUnkeyed(by vary: Vary?) -> HTTPFields {
        let dropped = unkeyed.subtracting(vary?.names ?? [])
        return dropped.isEmpty ? self : filter { !dropped.contains($0.name.canonicalName) }
    }

    private static func isSuspect(_ name: String) -> Bool {
        name.hasPrefix("x-") || name.split(separator: "-").contains { words.contains(String($0)) }
    }

    private static let words: Set<String> = [
        "addr", "forwarded", "host", "https", "ip", "method", "origin", "original", "override", "path", "port", "proto",
        "proxy", "referer", "rewrite", "scheme", "uri", "url",
    ]

    /// Fields that players and tools add for tracing.
    private static let harmless: Set<String> = [
        "x-amzn-trace-id", "x-b3-sampled", "x-b3-spanid", "x-b3-traceid", "x-cloud-trace-context", "x-correlation-id",
        "x-playback-session-id", "x-request-id",
    ]
}
