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

/// Addresses that begin with the same bits, as CIDR writes them (RFC 4632 §3.1): `192.168.1.0/24`, or one address.
///
/// An IPv4 address inside an IPv6 one (`::ffff:192.0.2.7`) counts as the IPv4 address.
package struct AddressRange: Sendable, Hashable {
    private let first: AddressBytes
    private let prefix: Int

    private init(_ first: AddressBytes, prefix: Int) { (self.first, self.prefix) = (first, prefix) }

    /// `nil` if `text` is neither an address nor one with the length of a prefix, if bits behind the prefix are set,
    /// and for a prefix of no bits, which would be all addresses.
    package init?(_ text: String) {
        guard case .success(let range) = Self.parse(text) else { return nil }
        self = range
    }

    var isSingle: Bool { prefix == first.bitCount }

    func contains(_ address: AddressBytes) -> Bool { address.masked(to: prefix) == first }

    /// Whether the range contains the address in `text`, or the IPv4 address inside it.
    package func contains(literal text: String) -> Bool {
        guard let address = AddressBytes(literal: text) else { return false }
        return contains(address) || address.embedded.map(contains) == true
    }

    func lies(in other: AddressRange) -> Bool { prefix >= other.prefix && other.contains(first) }

    // MARK: - Text

    /// Why `text` is no range, with the correct form; `nil` if it is one.
    package static func objection(to text: String) -> String? {
        guard case .failure(let problem) = parse(text) else { return nil }
        return problem.advice
    }

    private struct Problem: Error {
        let advice: String
    }

    private static func parse(_ text: String) -> Result<AddressRange, Problem> {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let written = AddressBytes(literal: String(parts[0])) else {
            return .failure(Problem(advice: "give a network such as 192.168.1.0/24 or fd00:1::/64."))
        }
        guard parts.count == 2 else {
            return .success(AddressRange(written.embedded ?? written, prefix: (written.embedded ?? written).bitCount))
        }
        let isNumber = (1...3).contains(parts[1].utf8.count) && parts[1].utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isNumber, let prefix = Int(parts[1]), prefix <= written.bitCount else {
            return .failure(Problem(advice: "the number behind the slash is 1 to \(written.bitCount)."))
        }
        guard prefix > 0 else {
            return .failure(Problem(advice: "that is every address; give the networks that you mean."))
        }
        let first = written.masked(to: prefix)
        guard first == written else {
            return .failure(Problem(advice: "the network is written \(first.text)/\(prefix)."))
        }
        // A range of IPv4 addresses inside IPv6 ones: the bits of the IPv4 address are the last 32.
        if let embedded = written.embedded, embedded == AddressBytes(written.bytes.suffix(4)), prefix >= 97 {
            return .success(AddressRange(embedded, prefix: prefix - 96))
        }
        return .success(AddressRange(first, prefix: prefix))
    }
}
