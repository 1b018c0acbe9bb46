/// The hosts that are asked without a proxy, as `NO_PROXY` names them in curl and Go.
struct ProxyExceptions: Sendable {
    private enum Entry: Sendable {
        /// A host and its subdomains.
        case domain(String, port: Int?)
        case network(AddressBytes, prefix: Int, port: Int?)
        case all
    }

    private let entries: [Entry]

    /// Entries that mean nothing are skipped, as curl and Go do.
    init(_ text: String) {
        entries = text.split { $0 == "," || $0 == " " || $0 == "\t" }.compactMap { Self.entry($0.lowercased()) }
    }

    /// Whether `endpoint` is asked without a proxy.
    func cover(_ endpoint: Endpoint) -> Bool {
        let name = LiteralHost.withoutDot(endpoint.host)
        let written = LiteralHost.address(name)
        let address = written?.embedded ?? written
        return entries.contains { entry in
            switch entry {
            case .all: true
            case .domain(let domain, let port):
                (name == domain || name.hasSuffix("." + domain)) && port ?? endpoint.port == endpoint.port
            case .network(let first, let prefix, let port):
                address?.bytes.count == first.bytes.count && address?.masked(to: prefix) == first
                    && port ?? endpoint.port == endpoint.port
            }
        }
    }

    private static func entry(_ text: String) -> Entry? {
        if text == "*" { return .all }
        if let network = network(text, port: nil) { return network }
        var (host, port) = (Substring(text), Int?.none)
        if let colon = text.lastIndex(of: ":"), text.hasPrefix("[") == text[..<colon].hasSuffix("]") {
            guard let number = Int(text[text.index(after: colon)...]), (1...65_535).contains(number) else { return nil }
            (host, port) = (text[..<colon], number)
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        if let network = network(String(host), port: port) { return network }
        // Of a domain and its subdomains curl and Go write the dot, Go the star, too.
        if host.hasPrefix("*.") { host = host.dropFirst() }
        if host.hasPrefix(".") { host = host.dropFirst() }
        let name = LiteralHost.withoutDot(String(host))
        return name.isEmpty ? nil : .domain(name, port: port)
    }

    private static func network(_ text: String, port: Int?) -> Entry? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let written = AddressBytes(literal: String(parts[0])), parts.count <= 2 else { return nil }
        let length = written.bitCount
        guard let prefix = parts.count == 1 ? length : Int(parts[1]), (0...length).contains(prefix) else { return nil }
        let address = prefix == length ? written.embedded ?? written : written
        let kept = min(prefix, address.bitCount)
        return .network(address.masked(to: kept), prefix: kept, port: port)
    }
}
