import HTTPTypes

extension HTTPFields {
    /// Those of an origin's fields that go on to `audience`.
    ///
    /// Left out are those that speak for a whole site: to the recipient that is the proxy, with all origins behind it. A
    /// player gets the ones that only browsers obey, as a cache is to hand on what it stored (RFC 9111 §3.1).
    func handedOn(to audience: Audience) -> HTTPFields {
        filter { field in
            let name = field.name.canonicalName
            if name.hasPrefix("access-control-") || name.hasPrefix("cross-origin-") { return false }
            return !Self.ofTheSite.contains(name) && (audience == .player || !Self.obeyedByBrowsers.contains(name))
        }
    }

    /// The proxy decides about these itself, or they would change how its whole address is used.
    private static let ofTheSite: Set<String> = [
        "alt-svc", "nel", "origin-agent-cluster", "refresh", "report-to", "reporting-endpoints",
        "service-worker-allowed", "speculation-rules", "strict-transport-security", "timing-allow-origin",
        "x-content-type-options",
    ]

    /// What browsers do beside showing the content: they run, report, store, connect, or ask the person for a password.
    private static let obeyedByBrowsers: Set<String> = [
        "accept-ch", "activate-storage-access", "attribution-reporting-register-source",
        "attribution-reporting-register-trigger", "clear-site-data", "content-security-policy",
        "content-security-policy-report-only", "critical-ch",
        "document-policy", "feature-policy", "integrity-policy", "link", "location", "no-vary-search",
        "observe-browsing-topics", "origin-trial", "permissions-policy", "public-key-pins",
        "sec-session-registration", "set-cookie", "set-cookie2", "set-login", "sourcemap", "supports-loading-mode",
        "use-as-dictionary", "www-authenticate", "x-sourcemap",
    ]
}
