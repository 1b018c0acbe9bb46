import Foundation

/// Who sent a request that came through other proxies, as these say in `X-Forwarded-For`.
///
/// Each proxy adds the address that it was connected from at the end of the field. What stands left of an address that
/// is no trusted proxy's was written by that one, who may write what it likes.
struct ForwardedClient: Sendable {
    /// Whether what a proxy at this address says is believed.
    let trusts: @Sendable (String) -> Bool

    /// The address of the client on a connection from `peer`, whose request has `field`.
    func address(behind peer: String, saying field: String?) -> String {
        guard let field, trusts(peer) else { return peer }
        var client = peer
        for entry in field.split(separator: ",", omittingEmptySubsequences: false).reversed() {
            guard let address = Self.address(entry.trimmingCharacters(in: .whitespaces)) else { break }
            client = address
            guard trusts(address) else { break }
        }
        return client
    }

    /// The address that an entry is, which some proxies write with a port; `nil` for anything else, such as `unknown`.
    private static func address(_ entry: String) -> String? {
        if entry.hasPrefix("[") {
            let inner = entry.dropFirst().prefix { $0 != "]" }
            return inner.contains(":") && ProxyConfiguration.isAddress(inner) ? String(inner) : nil
        }
        if ProxyConfiguration.isAddress(entry[...]) { return entry }
        let host = entry.prefix { $0 != ":" }
        return host.count < entry.count && ProxyConfiguration.isAddress(host) ? String(host) : nil
    }
}
