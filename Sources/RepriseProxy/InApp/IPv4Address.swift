#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// An IPv4 address.
package struct IPv4Address: Sendable, Hashable, CustomStringConvertible {
    /// The address as a number, its first byte in the highest bits.
    let bits: UInt32

    init(bits: UInt32) { self.bits = bits }

    /// The address of four decimal numbers with dots between them; `nil` for other texts.
    package init?(_ text: String) {
        var address = in_addr()
        guard inet_pton(AF_INET, text, &address) == 1 else { return nil }
        bits = UInt32(bigEndian: address.s_addr)
    }

    /// 127.0.0.1.
    static let loopback = IPv4Address(bits: 0x7F00_0001)

    /// Whether it is of a private network (RFC 1918).
    var isPrivate: Bool {
        bits >> 24 == 10 || bits >> 20 == 0xAC1 || bits >> 16 == 0xC0A8
    }

    /// Four decimal numbers with dots between them.
    package var description: String {
        [24, 16, 8, 0].map { "\(bits >> UInt32($0) & 0xFF)" }.joined(separator: ".")
    }
}
