#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// An interface of this machine, with one of its IPv4 addresses.
package struct NetworkInterface: Sendable, Hashable {
    let name: String
    let address: IPv4Address
    /// Whether it leads to one other machine only, such as a tunnel or a mobile network.
    let isPointToPoint: Bool

    /// The address at which devices of the local network reach this machine; `nil` without such a network.
    ///
    /// Prefers the interface of the default route, then Wi-Fi or a cable, then networks that this machine shares. Never
    /// returns a public address, or one of a mobile network or a tunnel.
    package static func localAddress() -> IPv4Address? { localAddress(among: all(), routed: routedAddress()) }

    static func localAddress(among interfaces: [NetworkInterface], routed: IPv4Address? = nil) -> IPv4Address? {
        let usable = interfaces.filter { !$0.isPointToPoint && $0.address.isPrivate }
        if let routed, usable.contains(where: { $0.address == routed }) { return routed }
        let hardware = usable.filter { interface in hardwareNames.contains { interface.name.hasPrefix($0) } }
        return (hardware.isEmpty ? usable : hardware).min { $0.name < $1.name }?.address
    }

    /// How the names of interfaces for Wi-Fi and cables begin.
    private static let hardwareNames = ["en", "eth", "wl"]

    /// The address of this machine on the default route; `nil` without a route.
    private static func routedAddress() -> IPv4Address? {
        let descriptor = socket(AF_INET, IPv4SocketAddress.datagram, 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        // Connecting a datagram socket sends nothing. The address is one of documentation (RFC 5737).
        guard let target = IPv4Address("192.0.2.1"), IPv4SocketAddress(target, port: 9).call(connect, descriptor) == 0
        else { return nil }
        return IPv4SocketAddress.host(of: descriptor)
    }

    /// Those that are up, without loopback.
    private static func all() -> [NetworkInterface] {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return [] }
        defer { freeifaddrs(first) }
        var interfaces: [NetworkInterface] = []
        var next = first
        while let entry = next?.pointee {
            next = entry.ifa_next
            if let interface = NetworkInterface(entry) { interfaces.append(interface) }
        }
        return interfaces
    }

    init(name: String, address: IPv4Address, isPointToPoint: Bool = false) {
        (self.name, self.address, self.isPointToPoint) = (name, address, isPointToPoint)
    }

    private init?(_ entry: ifaddrs) {
        func has(_ flag: some BinaryInteger) -> Bool { UInt64(entry.ifa_flags) & UInt64(flag) != 0 }
        guard has(IFF_UP), !has(IFF_LOOPBACK), let address = entry.ifa_addr,
            address.pointee.sa_family == sa_family_t(AF_INET)
        else { return nil }
        let bits = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee.sin_addr.s_addr }
        self.init(
            name: String(cString: entry.ifa_name), address: IPv4Address(bits: UInt32(bigEndian: bits)),
            isPointToPoint: has(IFF_POINTOPOINT))
    }
}
