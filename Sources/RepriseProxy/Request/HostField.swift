/// The parts of a `Host` field (RFC 9110 §7.2).
struct HostField {
    /// A name or an address, without brackets.
    let name: Substring

    /// `nil` if what follows the name or the brackets is no port; an empty one counts as none (RFC 3986 §3.2.3).
    init?(_ text: String) {
        let rest: Substring
        if text.hasPrefix("[") {
            guard let close = text.firstIndex(of: "]") else { return nil }
            name = text[..<close].dropFirst()
            rest = text[text.index(after: close)...]
        } else {
            name = text.prefix { $0 != ":" }
            rest = text[name.endIndex...]
        }
        guard !rest.isEmpty else { return }
        guard rest.hasPrefix(":") else { return nil }
        let port = rest.dropFirst()
        guard !port.isEmpty else { return }
        let isNumber = port.utf8.count <= 5 && port.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isNumber, let number = Int(port), number <= 65_535 else { return nil }
    }
}
