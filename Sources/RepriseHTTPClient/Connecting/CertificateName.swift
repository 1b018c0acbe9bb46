import NIOSSL

/// Whether a certificate, which is trusted otherwise, is one for the host that was asked for.
///
/// NIOSSL takes a certificate for the address of the other end, too, whatever name was asked for. That end may be a
/// proxy or an attacker who forged an answer of DNS, and addresses get certificates as names do.
enum CertificateName {
    /// One that names no host in this form is left to NIOSSL, which looks at its common name, and covers no address.
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
