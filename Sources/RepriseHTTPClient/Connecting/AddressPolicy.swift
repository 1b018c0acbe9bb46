import NIOCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Distinguishes addresses of the public internet from all others, to guard against requests into private networks.
enum AddressPolicy {
    /// Whether `address` is routable on the public internet.
    static func isPublic(_ address: SocketAddress) -> Bool {
        guard let text = address.ipAddress else { return false }  // a Unix domain socket
        return switch address {
        case .v4: bytes(of: text, family: AF_INET, count: 4).map(isPublicIPv4) ?? false
        case .v6: bytes(of: text, family: AF_INET6, count: 16).map(isPublicIPv6) ?? false
        case .unixDomainSocket: false
        }
    }

    /// NIO imports the socket structures from a module of its own; their text form works on every platform.
    private static func bytes(of text: String, family: CInt, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return inet_pton(family, text, &bytes) == 1 ? bytes : nil
    }

    /// Four bytes in network order; the special-purpose blocks of RFC 6890.
    static func isPublicIPv4(_ bytes: [UInt8]) -> Bool {
        switch (bytes[0], bytes[1]) {
        case (0, _), (10, _), (127, _): false
        case (100, 64...127): false  // carrier-grade NAT, RFC 6598
        case (169, 254), (192, 168): false
        case (172, 16...31): false
        case (192, 0): bytes[2] != 0  // protocol assignments
        case (198, 18...19): false  // benchmarking
        case (224..., _): false  // multicast, reserved, broadcast
        default: true
        }
    }

    /// Sixteen bytes in network order.
    ///
    /// Addresses that embed an IPv4 address are judged by that address.
    static func isPublicIPv6(_ bytes: [UInt8]) -> Bool {
        let leadingZeros = bytes.prefix { $0 == 0 }.count
        if leadingZeros >= 12 || (leadingZeros == 10 && bytes[10] == 0xFF && bytes[11] == 0xFF) {
            return isPublicIPv4(Array(bytes[12...]))  // ::, ::1, IPv4-compatible, IPv4-mapped
        }
        if bytes.starts(with: [0x00, 0x64, 0xFF, 0x9B]) { return isPublicIPv4(Array(bytes[12...])) }  // NAT64
        if bytes.starts(with: [0x20, 0x02]) { return isPublicIPv4(Array(bytes[2..<6])) }  // 6to4
        return bytes[0] & 0xE0 == 0x20  // only 2000::/3 is routed; fc00::/7, fe80::/10, ff00::/8 lie outside
    }
}
