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

    @OptionGroup(title: "Address") var address: AddressOptions
    @OptionGroup(title: "Access") var access: AccessOptions
    @OptionGroup(title: "Stored responses") var reuse: ReuseOptions
    @OptionGroup(title: "Clients") var clients: ClientOptions
    @OptionGroup(title: "Origins") var upstream: UpstreamOptions
    @OptionGroup(title: "Downloads") var pace: DownloadOptions
    @OptionGroup(title: "Storage and network") var store: StoreOptions
    @OptionGroup(title: "Page, metrics and logs") var watching: WatchingOptions
    @OptionGroup(title: "Page, metrics and logs") var log: LogOptions
    @OptionGroup(title: "Cache and configuration") var cache: CacheOptions

    /// Throws if an option is of no use without another setting.
    func checkTogether(with values: ServerSettings) throws {
        if watching.accessLogFormat != nil, values.accessLog == nil {
            throw ValidationError("--access-log-format is of no use without --access-log.")
        }
        if (values.tlsCertificate == nil) != (values.tlsKey == nil) {
            throw ValidationError("--tls-certificate and --tls-key belong together: give both.")
        }
    }

    /// Why no server starts with these settings unless its environment has a token, or a socket is passed to it, by the
    /// names of settings.
    static func objections(to values: ServerSettings) -> [String: String] {
        var configuration = ProxyConfiguration()
        values.apply(to: &configuration)
        let checks: [(any AnySetting, () throws -> Void)] = [
            (
                Setting<String, String>.host,
                {
                    try refuseWeakToken(of: configuration)
                    // A file of tokens has at least one.
                    if values.tokenFile == nil { try configuration.check() }
                }
            ),
            (Setting<String, String?>.tokenFile, { _ = try values.namedTokens() }),
            (Setting<String, String?>.tlsCertificate, { _ = try values.certificate() }),
        ]
        var objections: [String: String] = [:]
        for (setting, check) in checks {
            do { try check() } catch { objections[setting.name] = Failure.reason(error)?.message ?? "\(error)" }
        }
        return objections
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
        let layers = try OriginClient.signing(origin, for: self.cache)
        let peers = PeerClient(origins: client)
        // A cache that cannot be written must not stop playback.
        let cache = try await self.cache.open(
            settings, origin: layers, mayDoWithout: true, wait: store.wait, signals: signals)
        var configuration = configuration
        configuration.controlPlaces = ControlPlace.all(
            for: try self.cache.directory, environment: CacheOptions.environment)
        configuration.controlOperations = ControlOperations.all
        // ffmpeg would get plain bytes of an encrypted cache in a file.
        if configuration.servesPage, settings.encryption == nil, let program = PictureProgram() {
            configuration.makePicture = { await program.picture(of: $1, in: $0) }
        }
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
        await Announcement(
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
