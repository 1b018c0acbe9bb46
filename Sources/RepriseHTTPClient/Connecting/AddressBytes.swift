import NIOCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The 4 bytes of an IPv4 address, or the 16 of an IPv6 one, in network order.
struct AddressBytes: Hashable, Sendable {
    let bytes: [UInt8]

    /// `nil` unless there are 4 or 16.
    init?(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
        guard self.bytes.count == 4 || self.bytes.count == 16 else { return nil }
    }

    private init(unchecked bytes: [UInt8]) { self.bytes = bytes }

    /// Parses an address without brackets and zone; `nil` if `text` is none.
    init?(literal text: String) {
        let isIPv6 = text.contains(":")
        var bytes = [UInt8](repeating: 0, count: isIPv6 ? 16 : 4)
        guard inet_pton(isIPv6 ? AF_INET6 : AF_INET, text, &bytes) == 1 else { return nil }
        self.bytes = bytes
    }

    /// `nil` for a Unix domain socket.
    ///
    /// By its text form, because NIO imports the socket structures from a module of its own.
    init?(_ address: SocketAddress) {
        guard let text = address.ipAddress, let bytes = AddressBytes(literal: text) else { return nil }
        self = bytes
    }

    var bitCount: Int { bytes.count * 8 }

    /// The address with all bits behind the first `count` cleared.
    func masked(to count: Int) -> AddressBytes {
        AddressBytes(
            unchecked: bytes.enumerated().map { index, byte in
                let kept = min(max(count - index * 8, 0), 8)
                return byte & ~UInt8(truncatingIfNeeded: 0xFF >> kept)
            })
    }

    /// The IPv4 address inside an IPv6 one (RFC 4291 §2.5.5, RFC 6052, RFC 3056); `nil` if there is none, as in `::1`.
    var embedded: AddressBytes? {
        guard bytes.count == 16 else { return nil }
        let leadingZeros = bytes.prefix { $0 == 0 }.count
        guard leadingZeros < 15 else { return nil }
        // IPv4-compatible and IPv4-mapped.
        if leadingZeros >= 12 || (leadingZeros == 10 && bytes[10] == 0xFF && bytes[11] == 0xFF) {
            return AddressBytes(unchecked: Array(bytes[12...]))
        }
        // NAT64, then 6to4.
        if bytes.starts(with: [0x00, 0x64, 0xFF, 0x9B]) { return AddressBytes(unchecked: Array(bytes[12...])) }
        if bytes.starts(with: [0x20, 0x02]) { return AddressBytes(unchecked: Array(bytes[2..<6])) }
        return nil
    }

    /// The textual form.
    var text: String {
        let family = bytes.count == 16 ? AF_INET6 : AF_INET
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// Hosts written as IP addresses, in every form that resolvers accept: proxies connect to them without a name lookup.
enum LiteralHost {
    /// The address in `host`, which may be written as 127.1, 0x7f000001 or 2130706433; `nil` for a name.
    static func address(_ host: String) -> AddressBytes? {
        let text = withoutDot(host)
        if let bytes = AddressBytes(literal: text) { return bytes }
        // In network order; all bits are set if there is none.
        let address = inet_addr(text)
        return address == .max ? nil : withUnsafeBytes(of: address) { AddressBytes($0) }
    }

    /// Whether `host` is this machine, without a name lookup: `localhost` (RFC 6761 §6.3), 127.0.0.0/8, `::1`.
    static func isThisMachine(_ host: String) -> Bool {
        let name = withoutDot(host)
        if name == "localhost" || name.hasSuffix(".localhost") { return true }
        guard let address = address(name) else { return false }
        let bytes = (address.embedded ?? address).bytes
        return bytes.count == 4 ? bytes[0] == 127 : bytes == [UInt8](repeating: 0, count: 15) + [1]
    }

    /// A name without the dot at its end, which says that it is complete.
    static func withoutDot(_ host: String) -> String { host.hasSuffix(".") ? String(host.dropLast()) : host }
}
