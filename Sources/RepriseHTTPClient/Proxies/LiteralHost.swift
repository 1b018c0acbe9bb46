#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Hosts that are addresses, in every form that resolvers take: a proxy would connect to them without a look at names.
enum LiteralHost {
    /// The address that `host` writes, also as 127.1, 0x7f000001 or 2130706433; `nil` for a name.
    static func address(_ host: String) -> AddressBytes? {
        let text = withoutDot(host)
        if let bytes = AddressBytes(literal: text) { return bytes }
        // In network order; all bits are set for what is none.
        let address = inet_addr(text)
        return address == .max ? nil : withUnsafeBytes(of: address) { AddressBytes($0) }
    }

    /// Whether `host` names this machine without a look at names: `localhost` (RFC 6761 §6.3), 127.0.0.0/8, `::1`.
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
