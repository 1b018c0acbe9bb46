package import HTTPTypes

extension HTTPFields {
    /// Names of fields of a request, in lower case, that may change the response although no cache key holds them.
    ///
    /// These are private ones (`X-…`) and those that name an address, a client or a method, but for some that are known to
    /// leave the response as it is. A shared cache stores a response to them only if its Vary names them: anything else
    /// would hand one client's wishes to all.
    package var unkeyed: Set<String> {
        Set(map(\.name.canonicalName).filter { Self.isSuspect($0) && !Self.harmless.contains($0) })
    }

    /// These fields of a request without those that change the response and that `vary` does not name.
    package func withoutUnkeyed(by vary: Vary?) -> HTTPFields {
        let dropped = unkeyed.subtracting(vary?.names ?? [])
        return dropped.isEmpty ? self : filter { !dropped.contains($0.name.canonicalName) }
    }

    private static func isSuspect(_ name: String) -> Bool {
        name.hasPrefix("x-") || name.split(separator: "-").contains { words.contains(String($0)) }
    }

    private static let words: Set<String> = [
        "addr", "forwarded", "host", "https", "ip", "method", "original", "override", "path", "port", "proto", "proxy",
        "rewrite", "scheme", "uri", "url",
    ]

    /// What players and tools add for tracing.
    private static let harmless: Set<String> = [
        "x-amzn-trace-id", "x-b3-sampled", "x-b3-spanid", "x-b3-traceid", "x-cloud-trace-context", "x-correlation-id",
        "x-playback-session-id", "x-request-id",
    ]
}
