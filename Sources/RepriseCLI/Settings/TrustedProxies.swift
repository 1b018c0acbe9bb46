import RepriseHTTPClient

/// The proxies in front of the server whose word on their clients' addresses counts.
struct TrustedProxies: Sendable {
    private let ranges: [AddressRange]

    /// Takes networks and addresses, which were judged before.
    init(_ texts: [String]) { ranges = texts.compactMap { AddressRange($0) } }

    /// Whether there are none.
    var isEmpty: Bool { ranges.isEmpty }

    /// Whether `address` is one of them.
    func contain(_ address: String) -> Bool { ranges.contains { $0.contains(literal: address) } }
}
