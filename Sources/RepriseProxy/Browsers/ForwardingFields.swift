import HTTPTypes

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
