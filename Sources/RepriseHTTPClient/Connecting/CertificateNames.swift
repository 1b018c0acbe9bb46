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

    /// The host in the URL of a server at `address` of this machine: the address in the form of URLs if the certificate
    /// names it, or nothing that can be asked; otherwise `localhost`, or the first name.
    package func host(for address: String) -> String {
        let literal = address.contains(":") ? "[\(address)]" : address
        if let bytes = AddressBytes(literal: address)?.bytes, addresses.contains(bytes) { return literal }
        let names = hosts.filter { !$0.contains("*") && !$0.isEmpty }
        return names.first { $0 == "localhost" } ?? names.first ?? literal
    }
}
