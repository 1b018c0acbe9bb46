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
              reprise serve --encrypt-key-file ~/.config/reprise.key
              reprise serve --rate 20Mbit --while 02:00-06:00
              reprise serve --allow-page http://localhost:8000
              reprise serve --offline
              reprise serve --shared --force-cache media.example.com
              reprise serve --access-log /var/log/reprise/access.log

            Then play http://127.0.0.1:8090/https/host/path instead of https://host/path.
            """)

    @OptionGroup var cache: CacheOptions
    @OptionGroup var store: StoreOptions
    @OptionGroup var pace: DownloadOptions
    @OptionGroup var watching: WatchingOptions

    @Option(help: "Port to listen on, 0 for any free one; REPRISE_PORT. (default: 8090)")
    var port: Int?

    @Option(help: "Address to listen on. Anything but loopback needs --token or --allow-host.")
    var host = "127.0.0.1"

    @Option(help: "First segment that every path must have; REPRISE_TOKEN.")
    var token: String?

    @Option(
        help: ArgumentHelp(
            "Host name or IP address of an origin that may be asked; may be repeated. A name with a leading dot means its subdomains too.",
            valueName: "name"))
    var allowHost: [String] = []

    @Option(
        help: ArgumentHelp(
            "Web page's origin that may read through the proxy, as http://host:port; may be repeated.",
            valueName: "origin"))
    var allowPage: [String] = []

    @Flag(
        name: .customLong("no-page"),
        help: "Give browsers that open the address of the server no page, but a short text, as other clients.")
    var hasNoPage = false

    @Flag(help: "Serve several users by the rules of a shared cache (RFC 9111): nothing private is stored.")
    var shared = false

    @Flag(help: "Never ask an origin: serve stored bytes, however stale, and 504 otherwise.")
    var offline = false

    @Option(
        help: ArgumentHelp(
            "Origin host whose no-store, no-cache and max-age are not obeyed: stored, and fresh for a day. Repeatable.",
            valueName: "name"))
    var forceCache: [String] = []

    @Option(
        help: ArgumentHelp(
            "Most clients at once; further ones get 503. (default: as many as the limit of open files allows, at most 10000)",
            valueName: "count"))
    var maxConnections: Int?

    @Option(
        help: ArgumentHelp(
            "How long a client may take nothing of an answer, such as 10m. (default: 10m)", valueName: "time"))
    var stallTimeout: TimeSpan?

    @Option(
        help: ArgumentHelp(
            "Most connections to one origin host, 1 to 256; further requests queue.", valueName: "number"))
    var connectionsPerHost = 16

    @Option(
        help: ArgumentHelp(
            "How long a request queues for a connection before it is answered 504, such as 30s.", valueName: "time"))
    var queueTimeout: TimeSpan = .seconds(30)

    @Option(
        help: ArgumentHelp(
            "How long answers in progress have to end after SIGTERM or Ctrl-C, such as 2m.", valueName: "time"))
    var drainTimeout: TimeSpan = .seconds(30)

    @Option(
        help: ArgumentHelp(
            "How long connections are still accepted after SIGTERM, so that a balancer notices that this server ends.",
            valueName: "time"))
    var drainDelay: TimeSpan = .seconds(0)

    func validate() throws {
        guard (1...256).contains(connectionsPerHost) else {
            throw ValidationError("--connections-per-host must be 1 to 256.")
        }
        guard (.seconds(1) ... .seconds(3600)).contains(queueTimeout.duration) else {
            throw ValidationError("--queue-timeout must be 1s to 1h.")
        }
        if let maxConnections, maxConnections < 1 { throw ValidationError("--max-connections must be at least 1.") }
        if let port, !(0...65_535).contains(port) { throw ValidationError("--port must be 0 to 65535.") }
        if let token { try ServerOptions.check(token: token, of: "--token") }
        if host.isEmpty { throw ValidationError("--host is empty; give an address, such as 127.0.0.1.") }
        for name in allowHost {
            if let objection = ProxyConfiguration.objection(toHost: name) {
                throw ValidationError("--allow-host is \"\(name)\": \(objection)")
            }
        }
        for name in forceCache {
            let objection = ProxyConfiguration.objection(toHost: name)
            if let objection = name.hasPrefix(".") ? "give each host by its whole name." : objection {
                throw ValidationError("--force-cache is \"\(name)\": \(objection)")
            }
        }
        for page in allowPage where PageOrigin(page) == nil {
            throw ValidationError("--allow-page is \"\(page)\"; give an origin: http://host:port or https://host.")
        }
    }

    func run() async throws {
        let signals = StopSignals(isReloading: true)
        let logger = try cache.logger("reprise")
        var configuration = ProxyConfiguration()
        configuration.host = host
        configuration.port = try port ?? ServerOptions.port() ?? 8090
        try await Failure.reporting {
            guard let socket = try PassedSocket(CacheOptions.environment, process: getpid()) else { return }
            (configuration.host, configuration.port) = (socket.host, socket.port)
            configuration.listeningSocket = socket.descriptor
        }
        configuration.token = try token ?? ServerOptions.token()
        configuration.allowedPages = allowPage
        configuration.servesPage = !hasNoPage
        configuration.allowedHosts = allowHost.map { $0.lowercased() }
        configuration.logger = logger
        configuration.namesHostsInMetrics = watching.metricsHosts
        configuration.accessLog = try await Failure.reporting { try watching.openLog(logger: logger) }
        let budget = DescriptorBudget.raised()
        configuration.maximumConnections = Self.connections(maxConnections, within: budget, logger: logger)
        if let stallTimeout { configuration.stallTimeout = stallTimeout.duration }
        try await Failure.reporting {
            var settings = try store.configuration(cache)
            try pace.apply(to: &settings)
            settings.reuse.isShared = shared
            settings.reuse.isOffline = offline
            let forced = Set(forceCache.map { $0.lowercased() })
            settings.reuse.forces = { forced.contains($0) }
            // Before the cache is opened: then --reset empties it, and --maximum-age removes old entries.
            if store.reset || store.maximumAge != nil { try await ProxyServer.rehearse(configuration) }
            try await serve(configuration, settings: settings, logger: logger, signals: signals)
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
        _ configuration: ProxyConfiguration, settings: MediaCache.Configuration, logger: Logger,
        signals: StopSignals
    ) async throws {
        let origin = OriginClient.make { client in
            client.forbidsPrivateAddresses = !configuration.isLoopback
            client.maximumConnectionsPerHost = connectionsPerHost
            client.queueTimeout = queueTimeout.duration
            if !configuration.allowedHosts.isEmpty { client.allowsHost = { configuration.allows($0) } }
        }
        // A cache that cannot be written must not stop playback.
        let cache = try await self.cache.open(settings, origin: origin, mayDoWithout: true)
        var configuration = configuration
        configuration.controlPlaces = ControlPlace.all(
            for: self.cache.directory, environment: CacheOptions.environment)
        configuration.controlOperations = ControlOperations.all
        let server: ProxyServer
        do {
            server = try await ProxyServer.start(cache, configuration: configuration)
        } catch {
            try await cache.restoreLimit()
            await cache.close()
            await origin.shutdown()
            throw error
        }
        announce(server, of: cache)
        let manager = ServiceManager(CacheOptions.environment, logger: logger)
        let watch = manager.watch(server, of: cache)
        defer { watch.cancel() }
        signals.onHangUp { [accessLog = configuration.accessLog] in
            manager.reloading(server) {
                accessLog?.reopen()
                logger.info("hang-up: the access log is opened again, if there is one")
            }
        }
        let events = Task { await Self.log(cache.events(), logger: logger) }
        await signals.wait()
        manager.stopping(atMost: drainDelay.duration + drainTimeout.duration + Self.closingTime)
        let time = drainTimeout.defaultValueDescription
        Terminal.error("Stopping: answers in progress have \(time) to end. Another signal ends them now.")
        let isWhole = await server.drain(delay: drainDelay.duration, timeout: drainTimeout.duration)
        if !isWhole { Terminal.error("Some answers were broken off after \(time).") }
        await configuration.accessLog?.close()
        await cache.close()
        await origin.shutdown()
        await events.value
    }

    private func announce(_ server: ProxyServer, of cache: MediaCache) {
        let address = host == "0.0.0.0" || host == "::" ? "this machine's address, port \(server.port)" : server.address
        let stored = "\(self.cache.directory), \(ByteCount(cache.storedBytes)) stored"
        let place = cache.isStoring ? stored : cache.isReadOnly ? "\(stored), read-only" : "no store"
        let hours = cache.downloads.window.map { "\nDownloads run \($0) only, in local time." } ?? ""
        let page = server.hasPage ? "\nPage for a browser: \(server.address)/" : ""
        let lines = """
            Reprise is listening on \(address)
            Cache: \(place)\(hours)\(page)
            Put this before a media URL, scheme as the first segment, for example:
              mpv \(server.address)/https/example.com/film.mp4
            """
        // Lines of the access log are not mixed with others.
        if watching.isLogOnOutput { return Terminal.error(lines) }
        // It serves all the same.
        do { try Terminal.print(lines) } catch { Terminal.error("reprise: \(error.message)") }
    }

    private static func log(_ events: AsyncStream<CacheEvent>, logger: Logger) async {
        for await event in events {
            switch event {
            case .storeBypassed(let key, let reason):
                // Without a key it concerns the whole cache.
                logger.log(
                    level: key == nil ? .warning : .notice, "store bypassed", metadata: ["reason": "\(reason)"])
            case .storeReset(let reason):
                logger.warning("the cache starts empty", metadata: ["reason": "\(reason)"])
            case .preloadEstimated(let key, let reason):
                logger.debug("preload estimated", metadata: ["key": "\(key.redacted)", "reason": "\(reason)"])
            case .downloadEnded(let key, let error):
                let outcome = error.map { "\($0.code)" } ?? "done"
                logger.notice("download ended", metadata: ["key": "\(key.redacted)", "outcome": "\(outcome)"])
            case .verificationFailed(let key, let range):
                logger.notice("stored bytes were damaged", metadata: ["key": "\(key.redacted)", "range": "\(range)"])
            case .generationReplaced(let key, let reason):
                logger.notice("changed at the origin", metadata: ["key": "\(key.redacted)", "reason": "\(reason)"])
            case .hostSplices(let key, let host):
                logger.notice("host splices", metadata: ["key": "\(key.redacted)", "host": "\(host)"])
            case .servedStale(let key, let reason):
                logger.notice("served stale", metadata: ["key": "\(key.redacted)", "reason": "\(reason)"])
            case .evicted(let key, let bytes):
                logger.info("evicted", metadata: ["key": "\(key.redacted)", "bytes": "\(bytes)"])
            case .fetchRetried(let key, let delay, let error):
                logger.info(
                    "retrying", metadata: ["key": "\(key.redacted)", "after": "\(delay)", "error": "\(error.code)"])
            case .fetchStarted(let key, let range):
                logger.debug("fetch started", metadata: ["key": "\(key.redacted)", "range": "\(range)"])
            case .fetchEnded(let key, let bytes, let error):
                let outcome = error.map { "\($0.code)" } ?? "done"
                logger.debug(
                    "fetch ended", metadata: ["key": "\(key.redacted)", "bytes": "\(bytes)", "outcome": "\(outcome)"])
            case .readEnded(let key, let store, let joined, let origin):
                logger.debug(
                    "read ended",
                    metadata: [
                        "key": "\(key.redacted)", "store": "\(store)", "joined": "\(joined)", "origin": "\(origin)",
                    ])
            }
        }
    }
}
