package import NIOSSL

/// The hosts and addresses that a server's certificate names.
package struct CertificateNames: Sendable {
    private let hosts: [String]
    private let addresses: [[UInt8]]

    /// Those of `certificate`.
    package init(of certificate: NIOSSLCertificate) {
        let names = certificate._subjectAlternativeNames()
        hosts = names.filter { $0.nameType == .dnsName }.map { String(decoding: $0.contents, as: UTF8.self) }
        addresses = names.filter { $0.nameType == .ipAddress }.map { Array($0.contents) }
    }

    /// All host names and addresses in readable form, for error messages.
    var all: [String] {
        hosts
            + addresses.map { bytes in
                bytes.count == 4
                    ? bytes.map(String.init).joined(separator: ".")
                    : stride(from: 0, to: bytes.count - 1, by: 2).map {
                        String(Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]), radix: 16)
                    }.joined(separator: ":")
            }
    }

    /// The host for the URL of a server at `address` of this machine: the address if the certificate covers it or names
    /// no usable host, otherwise `localhost` or the first name.
    package func host(for address: String) -> String {
        let literal = address.contains(":") ? "[\(address)]" : address
        if let bytes = AddressBytes(literal: address)?.bytes, addresses.contains(bytes) { return literal }
        let names = hosts.filter { !$0.contains("*") && !$0.isEmpty }
        return names.first { $0 == "localhost" } ?? names.first ?? literal
    }
}

/// Checks that an otherwise trusted certificate covers the requested host.
///
/// NIOSSL also accepts a certificate for the peer's address, whatever name was requested. The peer may be a proxy, or
/// an attacker who forged a DNS answer, and certificates are issued for addresses too.
enum CertificateName {
    /// Leaves a certificate without subject alternative names to NIOSSL, which checks its common name; it covers no
    /// address.
    static func covers(_ certificate: NIOSSLCertificate, host: String) -> Bool {
        // There is no other accessor, and parsing the certificate again would be worse.
        let names = certificate._subjectAlternativeNames()
        let address = AddressBytes(literal: host)
        guard !names.isEmpty else { return address == nil }
        return names.contains { name in
            switch (name.nameType, address) {
            case (.ipAddress, let address?): Array(name.contents) == address.bytes
            case (.dnsName, nil): matches(String(decoding: name.contents, as: UTF8.self), host)
            default: false
            }
        }
    }

    /// Whether `pattern` covers `host`, which is in lower case: a star is one whole label, the first; RFC 9525 §6.3.
    static func matches(_ pattern: String, _ host: String) -> Bool {
        let pattern = LiteralHost.withoutDot(pattern.lowercased())
        let name = LiteralHost.withoutDot(host)
        guard pattern.hasPrefix("*.") else { return pattern == name && !pattern.isEmpty }
        let domain = pattern.dropFirst()  // with its dot
        guard domain.dropFirst().contains("."), let dot = name.firstIndex(of: "."), dot > name.startIndex else {
            return false
        }
        return name[dot...] == domain
    }
}
