import ArgumentParser
import Foundation
import Logging
import Reprise
import RepriseHTTPClient
import RepriseProxy

/// `reprise serve`.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the proxy for players until Ctrl-C.",
        discussion: """
            Examples:
              reprise serve
              reprise serve --port 8090 --limit 20GB
              reprise serve --host 0.0.0.0 --allow-host media.example.com
              reprise serve --host 0.0.0.0 --token long-random-text --allow-private nas.lan
              reprise serve --encrypt-key-file ~/.config/reprise.key
              reprise serve --rate 20Mbit --while 02:00-06:00
              reprise serve --allow-page http://localhost:8000
              reprise serve --offline
              reprise serve --config /etc/reprise.conf
              reprise serve --read-ahead 120s
              reprise serve --shared --force-cache media.example.com
              reprise serve --access-log /var/log/reprise/access.log

            Then play http://127.0.0.1:8090/https/host/path instead of https://host/path.
            """)

    @OptionGroup var watching: WatchingOptions

    @Option(help: Setting.port.help("Port to listen on, 0 for any free one."))
    var port: Int?

    @Option(help: Setting.host.help("Address to listen on. Anything but loopback needs a token or --allow-host."))
    var host: String?

    @Option(help: Setting.serverName.help("What this server is called in Via, Cache-Status, metrics and on its page."))
    var name: String?

    @Option(help: Setting.token.help("First segment that every path must have."))
    var token: String?

    @Option(
        help: Setting.tokenFile.help(
            "File of tokens with names, of which a request must show one: NAME TOKEN [control] [connections=NUMBER] [rate=RATE] on each line.",
            valueName: "file"))
    var tokenFile: String?

    @Option(
        help: Setting.tlsCertificate.help(
            "File of the server's certificate and those above it, in PEM: players then use https.", valueName: "file"))
    var tlsCertificate: String?

    @Option(help: Setting.tlsKey.help("File of the certificate's private key, in PEM.", valueName: "file"))
    var tlsKey: String?

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
        help: Setting.parent.help(
            "Server of Reprise, or balancer before several, that is asked in place of origins.", valueName: "address"))
    var parent: [String] = []

    @Option(help: Setting.parentFallback.help("Where no parent answers: ask the origin (direct), or fail (none)."))
    var parentFallback: ParentOrigin.Fallback?

    @Option(
        help: Setting.allowPage.help(
            "Web page's origin that may read through the proxy, as http://host:port.", valueName: "origin"))
    var allowPage: [String] = []

    @Flag(
        inversion: .prefixedNo,
        help: Setting.page.help(
            "Give browsers that open the address of the server its page, not a short text as other clients."))
    var page: Bool?

    @Option(
        help: Setting.peers.help(
            "Server of Reprise whose health and sums the page shows, and the sums of all.", valueName: "address"))
    var peers: [String] = []

    @Option(
        help: Setting.trustProxy.help(
            "Address or network of proxies before this server, whose X-Forwarded-For counts in the access log.",
            valueName: "network"))
    var trustProxy: [String] = []

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

    @Option(help: Setting.maxConnections.help("Most clients at once; further ones get 503.", valueName: "count"))
    var maxConnections: Int?

    @Option(
        help: Setting.stallTimeout.help(
            "How long a client may take nothing of an answer, such as 10m.", valueName: "time"),
        transform: { try Setting.stallTimeout.read($0) })
    var stallTimeout: TimeSpan?

    @Option(
        help: Setting.connectionsPerHost.help(
            "Most connections to one origin host, 1 to 256; further requests queue.", valueName: "number"))
    var connectionsPerHost: Int?

    @Option(
        help: Setting.queueTimeout.help(
            "How long a request queues for a connection before it is answered 504, such as 30s.", valueName: "time"),
        transform: { try Setting.queueTimeout.read($0) })
    var queueTimeout: TimeSpan?

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
    @OptionGroup var pace: DownloadOptions
    @OptionGroup var store: StoreOptions
    @OptionGroup var log: LogOptions
    @OptionGroup var cache: CacheOptions

    func validate() throws {
        try Setting.port.check(option: port)
        try Setting.host.check(option: host)
        try Setting.serverName.check(option: name)
        try Setting.token.check(option: token)
        try Setting.tokenFile.check(option: tokenFile)
        try Setting.tlsCertificate.check(option: tlsCertificate)
        try Setting.tlsKey.check(option: tlsKey)
        try Setting.allowHost.check(option: allowHost)
        try Setting.allowPrivate.check(option: allowPrivate)
        try Setting.parent.check(option: parent)
        try Setting.peers.check(option: peers)
        try Setting.trustProxy.check(option: trustProxy)
        try Setting.allowPage.check(option: allowPage)
        try Setting.forceCache.check(option: forceCache)
        try Setting.maxConnections.check(option: maxConnections)
        try Setting.connectionsPerHost.check(option: connectionsPerHost)
        try Setting.accessLog.check(option: watching.accessLog)
    }

    /// Throws if an option is of no use without another setting.
    func checkTogether(with values: ServerSettings) throws {
        if watching.accessLogFormat != nil, values.accessLog == nil {
            throw ValidationError("--access-log-format is of no use without --access-log.")
        }
        if (values.tlsCertificate == nil) != (values.tlsKey == nil) {
            throw ValidationError("--tls-certificate and --tls-key belong together: give both.")
        }
    }

    /// Why no server starts with these settings unless its environment has a token, or a socket is passed to it; `nil`
    /// if one does.
    static func objection(to values: ServerSettings) -> RepriseError? {
        var configuration = ProxyConfiguration()
        values.apply(to: &configuration)
        do throws(RepriseError) {
            try refuseWeakToken(of: configuration)
            // A file of tokens has at least one.
            if values.tokenFile == nil { try configuration.check() }
            return nil
        } catch {
            return error
        }
    }

    /// Throws if others can reach a server with `configuration`, and can guess its token.
    private static func refuseWeakToken(of configuration: ProxyConfiguration) throws(RepriseError) {
        guard let token = configuration.token, !configuration.isLoopback, ServerOptions.isWeak(token) else { return }
        throw RepriseError(
            .invalidArgument,
            "Listening on \(configuration.host) with a token that is easily guessed would let others use this proxy. Give "
                + "\(ServerOptions.shortestToken) characters or more, as from: openssl rand -hex 16")
    }

    func run() async throws {
        let signals = StopSignals(isReloading: true)
        try await Failure.reporting {
            let values = try ServerSettings(self, from: cache.settings())
            try checkTogether(with: values)
            let levels = LogLevelSwitch(try log.level(from: cache.settings()))
            let logger = LogOptions.logger(levels: levels)
            var configuration = ProxyConfiguration()
            configuration.logLevel = levels
            values.apply(to: &configuration)
            configuration.tokens = try values.namedTokens()
            let certificate = try values.certificate()
            if let certificate {
                configuration.encrypt = { try certificate.encrypt($0) }
                configuration.certifiedHost = { certificate.host(for: $0) }
            }
            if let socket = try PassedSocket(CacheOptions.environment, process: getpid()) {
                (configuration.host, configuration.port) = (socket.host, socket.port)
                configuration.listeningSocket = socket.descriptor
            }
            try Self.refuseWeakToken(of: configuration)
            configuration.logger = logger
            configuration.accessLog = try values.accessLog.map {
                try AccessLog(path: $0, format: values.accessLogFormat, logger: logger)
            }
            let budget = DescriptorBudget.raised()
            configuration.maximumConnections = Self.connections(values.maxConnections, within: budget, logger: logger)
            var settings = try store.configuration(cache)
            try DownloadOptions.apply(pace, to: &settings, from: cache.settings())
            values.apply(to: &settings)
            // Before the cache is opened: then --reset empties it, and --maximum-age removes old entries.
            if store.reset || settings.maximumAge != nil { try await ProxyServer.rehearse(configuration) }
            try await serve(
                configuration, values: values, certificate: certificate, settings: settings,
                origins: budget.origins(beside: configuration.maximumConnections), signals: signals)
        }
    }

    /// How long fetches and the index have to end, so far as a service manager is told.
    private static let closingTime = Duration.seconds(30)

    /// Warns when there is room for few, or for fewer than were asked for.
    private static func connections(_ wanted: Int?, within budget: DescriptorBudget, logger: Logger) -> Int {
        let count = min(wanted ?? budget.connections, budget.connections)
        logger.info(
            "limit of open files raised as far as it goes",
            metadata: ["descriptors": "\(budget.total)", "connections": "\(count)"])
        if count < wanted ?? 0 || budget.total < DescriptorBudget.few {
            logger.warning(
                "few file descriptors: raise the limit of open files (ulimit -n)",
                metadata: ["descriptors": "\(budget.total)", "connections": "\(count)"])
        }
        return count
    }

    private func serve(
        _ configuration: ProxyConfiguration, values: ServerSettings, certificate: ServerCertificate?,
        settings: MediaCache.Configuration, origins: ConnectionBudget, signals: StopSignals
    ) async throws {
        let logger = configuration.logger
        let client = try OriginClient.configuration(for: self.cache, store) { client in
            client.forbidsPrivateAddresses = !configuration.isLoopback
            client.connections = origins
            values.apply(to: &client)
            if !configuration.allowedHosts.isEmpty { client.allowsHost = { configuration.allows($0) } }
        }
        let origin = ParentOrigin(values.parents(of: configuration), direct: client)
        let peers = PeerClient(origins: client)
        // A cache that cannot be written must not stop playback.
        let cache = try await self.cache.open(settings, origin: origin, mayDoWithout: true)
        var configuration = configuration
        configuration.controlPlaces = ControlPlace.all(
            for: try self.cache.directory, environment: CacheOptions.environment)
        configuration.controlOperations = ControlOperations.all
        configuration.parentTally = { origin.tally }
        configuration.originConnections = { (origins.counts.open, origins.counts.idle) }
        configuration.peers = values.peers.map(peers.peer)
        let server: ProxyServer
        do {
            server = try await ProxyServer.start(cache, configuration: configuration)
        } catch {
            try await cache.restoreLimit()
            await cache.close()
            await origin.shutdown()
            await peers.shutdown()
            throw error
        }
        let manager = ServiceManager(CacheOptions.environment, logger: logger)
        signals.onHangUp { [accessLog = configuration.accessLog] in
            manager.reloading(server) {
                accessLog?.reopen()
                Self.readAgain("tokens", if: values.tokenFile != nil, logger: logger) {
                    server.replaceTokens(with: try values.namedTokens())
                }
                Self.readAgain("certificate", if: certificate != nil, logger: logger) { try certificate?.readAgain() }
                logger.info("hang-up: the access log is opened again, if there is one")
            }
        }
        // Only now, because an earlier hang-up would end the server.
        let watch = manager.watch(server, of: cache)
        defer { watch.cancel() }
        Announcement(
            server: server, cache: cache, directory: try self.cache.directory, values: values,
            tokenPlace: try self.cache.settings().place(of: Setting<String, String?>.token)
        ).print()
        let events = Task { await EventLog(logger: logger).write(cache) }
        await signals.wait()
        manager.stopping(atMost: values.drainDelay.duration + values.drainTimeout.duration + Self.closingTime)
        let time = values.drainTimeout.defaultValueDescription
        Terminal.error("Stopping: answers in progress have \(time) to end. Another signal ends them now.")
        let isWhole = await server.drain(
            delay: values.drainDelay.duration, timeout: values.drainTimeout.duration)
        if !isWhole { Terminal.error("Some answers were broken off after \(time).") }
        await configuration.accessLog?.close()
        await cache.close()
        await origin.shutdown()
        await peers.shutdown()
        await events.value
    }

    /// Reads files again, as `read` does; if they are wrong, what was read before stays.
    private static func readAgain(_ name: String, if isThere: Bool, logger: Logger, _ read: () throws -> Void) {
        guard isThere else { return }
        do {
            try read()
            logger.notice("hang-up: read again", metadata: ["what": "\(name)"])
        } catch {
            let reason = (error as? Failure.Reason)?.message ?? "\(error)"
            logger.warning(
                "hang-up: what was read before stays", metadata: ["what": "\(name)", "reason": "\(reason)"])
        }
    }
}
