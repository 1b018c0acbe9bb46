import ArgumentParser
import RepriseHTTPClient
import RepriseProxy

// The options of `serve`, in the groups of its help.

/// Where the server listens, and what it is called.
struct AddressOptions: ParsableArguments {
    @Option(help: Setting.port.help("Port to listen on, 0 for any free one."))
    var port: Int?

    @Option(help: Setting.host.help("Address to listen on. Anything but loopback needs a token or --allow-host."))
    var host: String?

    @Option(help: Setting.serverName.help("What this server is called in Via, Cache-Status, metrics and on its page."))
    var name: String?

    @Option(
        help: Setting.tlsCertificate.help(
            "File of the server's certificate and those above it, in PEM: players then use https.", valueName: "file"))
    var tlsCertificate: String?

    @Option(help: Setting.tlsKey.help("File of the certificate's private key, in PEM.", valueName: "file"))
    var tlsKey: String?

    func validate() throws {
        try Setting.port.check(option: port)
        try Setting.host.check(option: host)
        try Setting.serverName.check(option: name)
        try Setting.tlsCertificate.check(option: tlsCertificate)
        try Setting.tlsKey.check(option: tlsKey)
    }
}

/// Who may use the server, and for what.
struct AccessOptions: ParsableArguments {
    @Option(help: Setting.token.help("First segment that every path must have."))
    var token: String?

    @Option(
        help: Setting.tokenFile.help(
            "File of tokens with names, of which a request must show one: NAME TOKEN [control] [browse] [connections=NUMBER] [rate=RATE] on each line.",
            valueName: "file"))
    var tokenFile: String?

    @Option(
        help: Setting.allowHost.help(
            "Host name or IP address of an origin that may be asked. A name with a leading dot means its subdomains too.",
            valueName: "name"))
    var allowHost: [String] = []

    @Option(
        help: Setting.allowPrivate.help(
            "Origin in a private network that may be asked though others can reach this server: a host, an address, or a network such as 192.168.1.0/24.",
            valueName: "origin"))
    var allowPrivate: [String] = []

    @Option(
        help: Setting.allowPage.help(
            "Web page's origin that may read through the proxy, as http://host:port.", valueName: "origin"))
    var allowPage: [String] = []

    func validate() throws {
        try Setting.token.check(option: token)
        try Setting.tokenFile.check(option: tokenFile)
        try Setting.allowHost.check(option: allowHost)
        try Setting.allowPrivate.check(option: allowPrivate)
        try Setting.allowPage.check(option: allowPage)
    }
}

/// Which responses are stored, and when they are served.
struct ReuseOptions: ParsableArguments {
    @Flag(
        inversion: .prefixedNo,
        help: Setting.shared.help(
            "Serve several users by the rules of a shared cache (RFC 9111): nothing private is stored."))
    var shared: Bool?

    @Flag(
        inversion: .prefixedNo,
        help: Setting.offline.help("Never ask an origin: serve stored bytes, however stale, and 504 otherwise."))
    var offline: Bool?

    @Option(
        help: Setting.forceCache.help(
            "Origin host whose no-store, no-cache and max-age are not obeyed: stored, and fresh for a day.",
            valueName: "name"))
    var forceCache: [String] = []

    @Option(
        help: Setting.readAhead.help(
            "How far ahead of a player its file is fetched, also while it is paused: none, a time such as 120s, a size such as 32MB, or all.",
            valueName: "amount"), transform: { try Setting.readAhead.read($0) })
    var readAhead: ReadAheadAmount?

    func validate() throws {
        try Setting.forceCache.check(option: forceCache)
    }
}

/// What clients get, and for how long.
struct ClientOptions: ParsableArguments {
    @Option(help: Setting.maxConnections.help("Most clients at once; further ones get 503.", valueName: "count"))
    var maxConnections: Int?

    @Option(
        help: Setting.stallTimeout.help(
            "How long a client may take nothing of an answer, such as 10m.", valueName: "time"),
        transform: { try Setting.stallTimeout.read($0) })
    var stallTimeout: TimeSpan?

    @Option(
        help: Setting.drainTimeout.help(
            "How long answers in progress have to end after SIGTERM or Ctrl-C, such as 2m.", valueName: "time"),
        transform: { try Setting.drainTimeout.read($0) })
    var drainTimeout: TimeSpan?

    @Option(
        help: Setting.drainDelay.help(
            "How long connections are still accepted after SIGTERM, so that a balancer notices that this server ends.",
            valueName: "time"),
        transform: { try Setting.drainDelay.read($0) })
    var drainDelay: TimeSpan?

    func validate() throws {
        try Setting.maxConnections.check(option: maxConnections)
    }
}

/// What is asked in place of origins, and how often.
struct UpstreamOptions: ParsableArguments {
    @Option(
        help: Setting.parent.help(
            "Server of Reprise, or balancer before several, that is asked in place of origins.", valueName: "address"))
    var parent: [String] = []

    @Option(help: Setting.parentFallback.help("Where no parent answers: ask the origin (direct), or fail (none)."))
    var parentFallback: ParentOrigin.Fallback?

    @Option(
        help: Setting.connectionsPerHost.help(
            "Most connections to one origin host, 1 to 256; further requests queue.", valueName: "number"))
    var connectionsPerHost: Int?

    @Option(
        help: Setting.queueTimeout.help(
            "How long a request queues for a connection before it is answered 504, such as 30s.", valueName: "time"),
        transform: { try Setting.queueTimeout.read($0) })
    var queueTimeout: TimeSpan?

    func validate() throws {
        try Setting.parent.check(option: parent)
        try Setting.connectionsPerHost.check(option: connectionsPerHost)
    }
}
