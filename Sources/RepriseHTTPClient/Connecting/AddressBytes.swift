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

    /// The address that `text` writes, without brackets and zone; `nil` if it is none.
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

    /// As people write it.
    var text: String {
        let family = bytes.count == 16 ? AF_INET6 : AF_INET
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
