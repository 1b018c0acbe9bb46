public import Reprise

/// Which proxy each origin is asked through.
///
/// Hosts of this machine (`localhost`, 127.0.0.0/8, `::1`) are always asked directly.
public struct OutgoingProxies: Sendable {
    /// The proxy for `http` URLs; `nil` for none.
    public let http: OutgoingProxy?
    /// The proxy for `https` URLs; `nil` for none.
    public let https: OutgoingProxy?
    private let exceptions: ProxyExceptions

    /// All origins through `proxy`; without one, all directly.
    ///
    /// `exceptions` are asked directly, as `NO_PROXY` writes them: host names, which include their subdomains,
    /// addresses and networks (CIDR), each with a port or without, separated by commas; `*` for all.
    public init(_ proxy: OutgoingProxy? = nil, exceptions: String = "") {
        self.init(http: proxy, https: proxy, exceptions: exceptions)
    }

    /// One proxy for each scheme of URLs; `exceptions` as in ``init(_:exceptions:)``.
    public init(http: OutgoingProxy?, https: OutgoingProxy?, exceptions: String = "") {
        (self.http, self.https) = (http, https)
        self.exceptions = ProxyExceptions(exceptions)
    }

    /// What `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say, or those in capitals.
    ///
    /// Throws `invalidURL` if one of them is no URL of a proxy.
    public init(environment: [String: String]) throws(RepriseError) {
        let variables = ProxyVariables(environment)
        self.init(
            http: try variables.http?.proxy(), https: try variables.https?.proxy(),
            exceptions: variables.exceptions?.value ?? "")
    }

    /// The proxy for requests to `endpoint`; `nil` if it is asked directly.
    func proxy(for endpoint: Endpoint) -> OutgoingProxy? {
        guard let proxy = endpoint.scheme == .https ? https : http, !LiteralHost.isThisMachine(endpoint.host),
            !exceptions.cover(endpoint)
        else { return nil }
        return proxy
    }
}

/// The variables of an environment that name proxies.
package struct ProxyVariables: Sendable {
    /// One of them.
    package struct Variable: Sendable, Equatable {
        /// Its name, as it is spelled there.
        package let name: String
        /// Its text, which may contain a password.
        package let value: String

        /// The proxy that it names.
        func proxy() throws(RepriseError) -> OutgoingProxy {
            do { return try OutgoingProxy(value) } catch {
                throw RepriseError(error.code, "\(name) is wrong. \(error.message)")
            }
        }
    }

    /// The variable that counts for http URLs.
    package let http: Variable?
    /// The variable that counts for https URLs.
    package let https: Variable?
    /// The variable that names hosts which are asked directly.
    package let exceptions: Variable?

    /// Names in small letters count first, and empty values do not.
    package init(_ environment: [String: String]) {
        func find(_ names: [String]) -> Variable? {
            names.lazy.compactMap { name in environment[name].map { Variable(name: name, value: $0) } }
                .first { !$0.value.isEmpty }
        }
        // Where a web server starts programs, clients set HTTP_PROXY with a field called Proxy (CVE-2016-5385).
        let isCGI = environment["REQUEST_METHOD"] != nil
        let all = ["all_proxy", "ALL_PROXY"]
        http = find(["http_proxy"] + (isCGI ? [] : ["HTTP_PROXY"]) + all)
        https = find(["https_proxy", "HTTPS_PROXY"] + all)
        exceptions = find(["no_proxy", "NO_PROXY"])
    }
}

/// The hosts that are reached without a proxy, in the syntax of `NO_PROXY` in curl and Go.
struct ProxyExceptions: Sendable {
    private enum Entry: Sendable {
        /// A host and its subdomains.
        case domain(String, port: Int?)
        case network(AddressBytes, prefix: Int, port: Int?)
        case all
    }

    private let entries: [Entry]

    /// Skips invalid entries, as curl and Go do.
    init(_ text: String) {
        entries = text.split { $0 == "," || $0 == " " || $0 == "\t" }.compactMap { Self.entry($0.lowercased()) }
    }

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
        // For a domain with its subdomains, curl and Go accept a leading dot, and Go also accepts `*.`.
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
