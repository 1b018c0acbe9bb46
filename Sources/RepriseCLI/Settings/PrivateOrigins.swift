import Reprise
import RepriseHTTPClient
import RepriseProxy

/// The origins in private networks that a server beyond loopback may ask: hosts by their names, and networks.
struct PrivateOrigins: Sendable, Equatable {
    /// In lower case; one that begins with a dot also includes every subdomain.
    private(set) var hosts: [String] = []
    private(set) var ranges: [AddressRange] = []

    /// Entries must be without an objection.
    init(_ entries: [String]) {
        for entry in entries {
            if let range = AddressRange(entry) { ranges.append(range) } else { hosts.append(entry.lowercased()) }
        }
    }

    /// Why `entry` names no origin, with the correct form; `nil` if it names one.
    static func objection(to entry: String) -> String? {
        // In a host section the setting of this name takes them.
        if ["yes", "true", "on", "no", "false", "off"].contains(entry.lowercased()) {
            return "name what may be asked, such as nas.lan or 192.168.1.0/24; yes and no stand in a section such as "
                + "[host nas.lan]."
        }
        if entry.contains("*"), entry.first?.isNumber == true { return "give a network such as 192.168.1.0/24." }
        if entry.contains("/"), !entry.contains("://") { return AddressRange.objection(to: entry) }
        return ProxyConfiguration.objection(toHost: entry)
    }

    /// Puts what may be connected to into `client`.
    func apply(to client: inout NIOOrigin.Configuration) {
        client.privateAddresses = ranges
        guard !hosts.isEmpty else { return }
        client.allowsPrivateAddresses = { [hosts] host in
            hosts.contains { HostPattern.covers($0, host) } ? true : nil
        }
    }
}
