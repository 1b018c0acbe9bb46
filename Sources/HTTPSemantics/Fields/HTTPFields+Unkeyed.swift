package import HTTPTypes

extension HTTPFields {
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
