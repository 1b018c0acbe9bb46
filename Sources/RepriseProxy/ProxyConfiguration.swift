import HTTPSemantics
public import Logging
package import NIOCore
public import Reprise

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Settings of a ``ProxyServer``.
///
/// The defaults serve one user on this machine only.
public struct ProxyConfiguration: Sendable {
    /// Address to listen on; `127.0.0.1` by default.
    ///
    /// Any address other than a loopback address requires ``token`` or ``allowedHosts``.
    public var host = "127.0.0.1"
    /// Port; 0, the default, lets the system choose a free one.
    public var port = 0
    /// If set, the first segment of every path must be this text, or `Authorization` must have it as a bearer token.
    public var token: String?
    /// If not empty, only these origin hosts are served; an entry that begins with a dot also includes every subdomain.
    ///
    /// Host names in lower case or IP addresses, without scheme, port or wildcard; with any other entry the proxy does
    /// not start.
    public var allowedHosts: [String] = []
    /// Origins of web pages that may read through the proxy, each `http://host[:port]` or `https://host[:port]`; none
    /// by default.
    ///
    /// Pages of other sites get 403. An allowed page can read everything that the proxy can fetch, including paths with
    /// a token, but cannot change anything: methods other than GET and HEAD are refused. See `docs/proxy-security.md`.
    public var allowedPages: [String] = []
    /// Whether a browser that opens the address of the proxy gets its page, which shows what it does and can change it;
    /// true by default.
    ///
    /// Beyond loopback it is served behind ``token`` only. Other clients get a short text at that address.
    public var servesPage = true
    /// Maximum number of connections; further ones get 503 with `Retry-After`.
    ///
    /// 1,024 by default.
    public var maximumConnections = 1024
    /// How long a client may take to send its first request; 15 s by default.
    public var headTimeout = Duration.seconds(15)
    /// How long a connection without a request is kept after the kernel has accepted the last byte of the last answer;
    /// 75 s by default.
    ///
    /// The next request must be complete within that time.
    public var idleTimeout = Duration.seconds(75)
    /// How long a client may leave the bytes of an answer unread; 10 minutes by default.
    ///
    /// A client that reads any bytes in that time may take as long as it likes for all of them. One that reads none,
    /// such as a paused player, has to request the rest with a range.
    public var stallTimeout = Duration.seconds(600)
    /// Number of event loop threads; half the cores by default, 1 to 4.
    public var threads = min(4, max(1, System.coreCount / 2))
    /// How long a response waits when it first goes from stored bytes to a hole, in case the client only wants stored
    /// bytes.
    ///
    /// Without the wait, a client that leaves just before the hole would cause a fetch each time.
    ///
    /// 50 ms by default; up to ten times that after 2 MiB of stored bytes, which keep a player busy in the meantime.
    public var gracePeriod = Duration.milliseconds(50)
    /// Whether stored bytes go from their file to the client with `sendfile`; otherwise they are read first, in pieces
    /// of 256 KiB.
    ///
    /// False by default on iOS, tvOS and visionOS, and true elsewhere: tvOS ends a process that calls `sendfile` in its
    /// sandbox.
    public var usesSendfile = ProxyConfiguration.mayUseSendfile
    /// The clocks; the system's by default.
    public var clock = CacheClock.system
    /// The logger for requests and failures.
    ///
    /// URLs are logged without queries; Range is the only header field logged.
    public var logger = Logger(label: "reprise.proxy")

    /// Whether metrics (`/metrics`) name the hosts of origins: the 20 busiest, and the others together; true by
    /// default.
    ///
    /// Without names, the counts of all hosts are summed.
    public var namesHostsInMetrics = true

    /// What the proxy is called in `Via`, `Cache-Status`, metrics and the status; must be a token (RFC 9110 §5.6.2).
    package var name = CacheStatus.cacheName

    /// What the requests of the server called ``name`` carry in `Via`, by which it knows them if they come back.
    package var via: String { Via.request(by: name) }

    /// Makes each new connection at the port an encrypted one, on its loop; `nil`, the default, for plain HTTP.
    ///
    /// The proxy itself knows no TLS. Stored bytes then do not go out with `sendfile`.
    package var encrypt: (@Sendable (any Channel) throws -> Void)?
    /// The host for URLs of this proxy in place of an address that its certificate does not name; `nil`, the default,
    /// for that address.
    package var certifiedHost: (@Sendable (String) -> String)?

    /// Tokens with names besides ``token``; none by default.
    package var tokens: [AccessToken] = []

    /// Where each answer gets a line; `nil`, the default, for none.
    ///
    /// It belongs to the one who opened it, and must be closed after the proxy has stopped.
    package var accessLog: AccessLog?

    /// Whether a proxy in front of this one, at this address, says truly for whom it asks (`X-Forwarded-For`); none by
    /// default.
    package var trustsProxy: (@Sendable (String) -> Bool)?

    /// A socket that listens already, at ``host`` and ``port``, which the proxy takes; without one it makes its own.
    package var listeningSocket: Int32?

    /// Where the control socket may be, the best place first; none by default.
    ///
    /// Without one of them the server runs all the same, and logs a warning.
    package var controlPlaces: [ControlPlace] = []

    /// Where the level of ``logger`` is changed while the server runs; `nil` if clients may not change it.
    package var logLevel: LogLevelSwitch?

    /// What a client may have done to the cache (`/-/api/NAME`); nothing by default.
    package var controlOperations: [any ControlOperation.Type] = []

    /// What parents were asked for, of an edge; `nil`, the default, for a server that counts none.
    package var parentTally: (@Sendable () -> ParentTally)?

    /// Number of open connections to origins, and of those among them that carry no request; `nil`, the default, if
    /// they are not counted.
    package var originConnections: (@Sendable () -> (open: Int, idle: Int))?

    /// Other servers whose health and sums are shown; none by default.
    package var peers: [Peer] = []

    /// Makes a small JPEG of a title from its stored bytes; returns `nil` if they have no picture.
    package typealias PictureMaker = @Sendable (_ cache: MediaCache, _ title: CacheKey) async -> [UInt8]?
    /// Makes the pictures for the page; `nil`, the default, for none.
    package var makePicture: PictureMaker?

    /// Which bodies are replaced by a text made from them; playlists if this is `nil`, as by default.
    package var bodyFilter: (any BodyFilter)?
    /// What the app's options say about each request, in the proxy of an app's items.
    package var items: ItemRules?
    /// What other devices of the network get, of a proxy for them; `nil`, the default, for any other proxy.
    package var cast: CastScope?

    /// Most bytes of playlists that are in memory to be edited and sent, of all clients together; 128 MiB by default.
    package var mostTextBytes = 128 << 20
    /// Most bytes of requests that are not complete or not answered, of all connections together; 64 MiB by default.
    package var mostRequestBytes = 64 << 20

    /// The defaults.
    public init() {}

    /// Number of connections beyond a limit of `connections` that are answered with 503 at the same time.
    package static func surplus(of connections: Int) -> Int { min(64, max(2, connections / 4)) }

    private static var mayUseSendfile: Bool {
        #if os(iOS) || os(tvOS) || os(visionOS) || os(watchOS)
            false
        #else
            true
        #endif
    }

    /// The scheme of this proxy's own address.
    var scheme: String { encrypt == nil ? "http" : "https" }

    /// Whether requests need a token.
    var hasTokens: Bool { token != nil || !tokens.isEmpty }

    /// What request targets have before `/https/host/path`, without the tokens that have a name.
    var pathPrefix: String { token.map { "/\($0)" } ?? "" }

    /// How long a client may take to close its side after the last answer; bytes that it still sends are dropped.
    private static let farewellTimeout = Duration.seconds(5)

    var deadlines: ConnectionDeadline.Limits {
        ConnectionDeadline.Limits(
            firstRequest: headTimeout, request: idleTimeout, client: stallTimeout,
            farewell: min(Self.farewellTimeout, idleTimeout))
    }

    /// Whether ``host`` is reachable from this machine only.
    public var isLoopback: Bool { Self.isLoopback(host: host) }

    /// Whether `host`, a name or an address, refers to this machine only.
    package static func isLoopback(host: String) -> Bool { host == "localhost" || isLoopback(address: host[...]) }

    /// Whether `address` is one of this machine only.
    static func isLoopback(address: Substring) -> Bool {
        address == "::1"
            || address.utf8.starts(with: "127.".utf8) && address.utf8.allSatisfy { 0x30...0x39 ~= $0 || $0 == 0x2E }
    }

    /// Throws ``RepriseError`` with code `invalidArgument` if no server may start so: if it is reachable from other
    /// machines without a token or a list of hosts, or if an allowed host is not valid.
    package func check() throws(RepriseError) {
        guard isLoopback || hasTokens || !allowedHosts.isEmpty else {
            throw RepriseError(
                .invalidArgument,
                "Listening on \(host) would let others use this proxy. Give a token or a list of hosts.")
        }
        for host in allowedHosts {
            if let objection = Self.objection(toHost: host) {
                throw RepriseError(.invalidArgument, "\"\(host)\" is no host that may be allowed: \(objection)")
            }
        }
    }

    /// Whether `text` can be a ``host``: an address, of IPv6 without brackets and with or without a zone, or a name.
    package static func isHost(_ text: String) -> Bool {
        guard let percent = text.firstIndex(of: "%") else {
            return !text.hasPrefix(".") && objection(toHost: text) == nil
        }
        return text.contains(":") && isAddress(text[..<percent]) && isName(text[text.index(after: percent)...])
    }

    /// Why `entry` is not valid in ``allowedHosts``, with the correct form; `nil` if it is valid.
    package static func objection(toHost entry: String) -> String? {
        let name = entry.hasPrefix(".") ? entry.dropFirst() : entry[...]
        let example = "give a host name, such as media.example.com"
        if name.isEmpty { return "\(example)." }
        if name.contains("*") { return "give .example.com for example.com and all its subdomains." }
        if name.contains("/") { return "\(example), without scheme and path." }
        if name.contains("[") { return "give an IPv6 address without brackets." }
        if name.count(where: { $0 == ":" }) == 1 { return "\(example), without a port: all of its ports may be asked." }
        if name.contains(":") || endsInNumber(name) {
            guard isAddress(name) else { return "give an IP address whole, such as 192.0.2.7 or 2001:db8::7." }
            return entry == name ? nil : "an address has no subdomains: leave the dot before it out."
        }
        return isName(name)
            ? nil
            : "\(example): letters, digits, hyphens and underscores between single dots; others than ASCII letters in their "
                + "xn-- form."
    }

    /// Whether URLs take `name` for an IPv4 address, right or wrong (URL Standard §3.5).
    private static func endsInNumber(_ name: Substring) -> Bool {
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        guard let last = labels.last?.isEmpty == true ? labels.dropLast().last : labels.last, !last.isEmpty else {
            return false
        }
        let isHexadecimal = last.lowercased().hasPrefix("0x") && last.dropFirst(2).allSatisfy(\.isHexDigit)
        return isHexadecimal || last.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    /// Whether `text` is an IPv4 or IPv6 address, without brackets.
    static func isAddress(_ text: Substring) -> Bool {
        var address = in6_addr()
        return inet_pton(text.contains(":") ? AF_INET6 : AF_INET, String(text), &address) == 1
    }

    /// Whether `text` is a host name (RFC 1123 §2.1); underscores, which some hosts have, pass.
    private static func isName(_ text: Substring) -> Bool {
        let labels = (text.hasSuffix(".") ? text.dropLast() : text).split(
            separator: ".", omittingEmptySubsequences: false)
        return text.utf8.count <= 254
            && labels.allSatisfy { label in
                (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
                    && label.utf8.allSatisfy(isNameByte)
            }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Whether the origin host `origin`, in lower case, is allowed.
    public func allows(_ origin: String) -> Bool {
        allowedHosts.isEmpty || allowedHosts.contains { HostPattern.covers($0, origin) }
    }
}
