import HTTPTypes

extension HTTPFields {
    /// An origin's fields that are passed on to `audience`.
    ///
    /// Fields that apply to a whole site are excluded, because to the recipient that site is the proxy, with all
    /// origins behind it. A player gets the fields that only browsers obey, because a cache should pass on stored
    /// fields (RFC 9111 §3.1).
    func handedOn(to audience: Audience) -> HTTPFields {
        filter { field in
            let name = field.name.canonicalName
            if name.hasPrefix("access-control-") || name.hasPrefix("cross-origin-") { return false }
            return !Self.ofTheSite.contains(name) && (audience.isProgram || !Self.obeyedByBrowsers.contains(name))
        }
    }

    /// Fields that the proxy sets itself, or that would change how its whole address is used.
    private static let ofTheSite: Set<String> = [
        "alt-svc", "nel", "origin-agent-cluster", "refresh", "report-to", "reporting-endpoints",
        "service-worker-allowed", "speculation-rules", "strict-transport-security", "timing-allow-origin",
        "x-content-type-options",
    ]

    /// Fields that make browsers do more than show the content: run, report, store, connect, or ask the user for a
    /// password.
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

extension HTTPField.Name {
    /// Whether only a gateway in front of the origin, or a browser about its own page, can know the field's value.
    ///
    /// Origins trust the first kind and build links from them, which a cache would then serve to others.
    var speaksForAnotherHop: Bool {
        canonicalName.hasPrefix("x-forwarded-") || canonicalName.hasPrefix("sec-")
            || canonicalName.hasPrefix("access-control-request-") || Self.ofGateways.contains(canonicalName)
    }

    private static let ofGateways: Set<String> = [
        "cf-connecting-ip", "client-ip", "forwarded", "front-end-https", "service-worker", "true-client-ip",
        "x-client-ip", "x-cluster-client-ip", "x-forwarded", "x-host", "x-http-host-override", "x-http-method",
        "x-http-method-override", "x-method-override", "x-original-host", "x-original-url", "x-real-ip",
        "x-rewrite-url", "x-url-scheme",
    ]
}
