import NIOCore

/// Decides to which addresses of one host a connection may be opened, to guard against requests into private networks:
/// those of the public internet, and private ones that the configuration names.
struct AddressPolicy: Sendable {
    /// What the configuration says of the host by its name.
    enum HostRule: Sendable, Equatable {
        /// It may be at any private address.
        case named
        /// It may be at none, not even in a range.
        case refused
        /// The ranges decide.
        case none
    }

    /// The host of the URL: a name or an address.
    let host: String
    let rule: HostRule
    let ranges: [AddressRange]

    init(for host: String, rule: HostRule = .none, ranges: [AddressRange] = []) {
        (self.host, self.rule, self.ranges) = (host, rule, ranges)
    }

    /// Whether a connection to `address` may be opened.
    func permits(_ address: SocketAddress) -> Bool {
        guard let bytes = AddressBytes(address) else { return false }  // a Unix domain socket
        let judged = bytes.embedded ?? bytes
        if Self.isPublic(judged) { return true }
        switch rule {
        case .refused: return false
        // Who says where a name points must not lead the server to the credentials of its machine.
        case .named where !Self.metadata.contains(judged) || AddressBytes(literal: host) == bytes: return true
        case .named, .none: return ranges.contains { Self.isMeant(judged, by: $0) }
        }
    }

    /// Whether `range` was written with `address` in mind.
    ///
    /// A wide range has not: this machine, which trusts its own users, and services that give out credentials of a
    /// virtual machine to everyone who asks, have to be named themselves.
    private static func isMeant(_ address: AddressBytes, by range: AddressRange) -> Bool {
        guard range.contains(address) else { return false }
        if metadata.contains(address) { return range.isSingle }
        return ownBlocks.first { $0.contains(address) }.map { range.lies(in: $0) } ?? true
    }

    /// Addresses of this machine itself; `0.0.0.0` and `::` are, too, where they are connected to.
    private static let ownBlocks = ["127.0.0.0/8", "0.0.0.0/8", "::1", "::"].compactMap { AddressRange($0) }

    /// Where machines of AWS, Google, Azure, Oracle and Alibaba get their metadata and credentials.
    private static let metadata = Set(
        [
            "169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "192.0.0.192", "fd00:ec2::254",
            "fd00:ec2::23", "fd20:ce::254",
        ].compactMap { AddressBytes(literal: $0) })

    // MARK: - Public addresses

    /// Whether `address` is routable on the public internet.
    ///
    /// Addresses that embed an IPv4 address are judged by that address.
    static func isPublic(_ address: AddressBytes) -> Bool {
        let judged = address.embedded ?? address
        if judged.bytes.count == 4 { return isPublicIPv4(judged.bytes) }
        // Of IPv6 only 2000::/3 is routed; fc00::/7, fe80::/10, ff00::/8 lie outside.
        return judged.bytes[0] & 0xE0 == 0x20 && !specialBlocks.contains { $0.contains(judged) }
    }

    /// What is special within 2000::/3: protocol assignments (RFC 2928), with Teredo, which embeds an IPv4 address, and
    /// ORCHID; documentation (RFC 3849, RFC 9637).
    private static let specialBlocks = ["2001::/23", "2001:db8::/32", "3fff::/20"].compactMap { AddressRange($0) }

    /// Four bytes in network order; the special-purpose blocks of RFC 6890.
    private static func isPublicIPv4(_ bytes: [UInt8]) -> Bool {
        switch (bytes[0], bytes[1]) {
        case (0, _), (10, _), (127, _): false
        case (100, 64...127): false  // carrier-grade NAT, RFC 6598
        case (169, 254), (192, 168): false
        case (172, 16...31): false
        case (192, 0): bytes[2] != 0 && bytes[2] != 2  // protocol assignments, documentation
        case (192, 88): bytes[2] != 99  // relays of 6to4, RFC 7526
        case (198, 18...19): false  // benchmarking
        case (198, 51): bytes[2] != 100  // documentation, RFC 5737
        case (203, 0): bytes[2] != 113  // documentation
        case (224..., _): false  // multicast, reserved, broadcast
        default: true
        }
    }
}
