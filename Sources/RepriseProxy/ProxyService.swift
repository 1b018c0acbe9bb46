import HTTPSemantics
import HTTPTypes
import Logging
import NIOCore
import Playlists
import Primitives
import Reprise

/// The state shared by all connections of a proxy.
final class ProxyService: Sendable {
    let cache: MediaCache
    let configuration: ProxyConfiguration
    /// Finds the files that are asked for.
    private let files: FileFinder
    private let logs: LogQueue
    let browsers: BrowserRules
    /// `nil` if requests need no token.
    let tokens: AccessTokens?
    /// Whether only this machine reaches the server; each request asks.
    private let isLoopback: Bool
    /// Which bodies are replaced by a text made from them, for players and for browsers.
    private let bodyFilter: any BodyFilter
    /// For edges, which get none of these texts.
    private let edgeFilter: any BodyFilter
    /// What served playlists say.
    let streams: StreamKnowledge
    /// Responses of streams' live edges.
    let liveExchanges: SharedExchanges
    let contentFeatures = ContentFeatures()
    private let upkeep: HeapUpkeep
    /// Playlists in memory, on their way to clients.
    let texts: SharedTexts
    let control: Control
    let streamShares = StreamShares()
    let catalog: TitleCatalog
    /// `nil` if there is no program that makes them.
    let pictures: TitlePictures?
    /// `nil` if answers are not logged.
    let accessLog: AccessLog?
    /// `nil` if no proxy in front of this one is believed.
    let forwardedClient: ForwardedClient?
    var wallClock: @Sendable () -> Double { configuration.clock.now }

    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        /// Those of the control socket, which are counted apart: a server with too many clients can be looked after.
        var controlChannels: [ObjectIdentifier: any Channel] = [:]
        var answers: [UInt64: Task<Void, Never>] = [:]
        var nextAnswer: UInt64 = 0
        var watches: [ObjectIdentifier: NIOLoopBound<ConnectionWatch>] = [:]
        var drain = Drain.none
        var isClosing = false
        /// Where players reach it from this machine, without a token; `nil` before it listens.
        var address: String?
        /// Connections beyond the limit.
        var refused: Int64 = 0
    }

    /// How far the end of serving has come.
    enum Drain: Equatable {
        /// Connections are kept.
        case none
        /// Each connection ends with its next answer.
        case announced
        /// Connections without a request end at once.
        case ending
    }

    private let state = Mutex(State())

    /// Where players reach it from this machine, without a token; `nil` before it listens.
    var address: String? {
        get { state.withLock { $0.address } }
        set { state.withLock { $0.address = newValue } }
    }

    init(cache: MediaCache, configuration: ProxyConfiguration) throws(RepriseError) {
        var pages: Set<String> = []
        for text in configuration.allowedPages {
            guard let page = PageOrigin(text) else {
                throw RepriseError(
                    .invalidArgument,
                    "\"\(text)\" is no page's origin; give it as http://host:port, https://host or "
                        + "capacitor://localhost.")
            }
            pages.insert(page.text)
        }
        browsers = BrowserRules(allowedPages: pages, allowsAnyPage: configuration.cast != nil)
        self.cache = cache
        var configuration = configuration
        // What is encrypted passes through memory.
        if configuration.encrypt != nil { configuration.usesSendfile = false }
        self.configuration = configuration
        isLoopback = configuration.isLoopback
        tokens = AccessTokens(configuration)
        accessLog = configuration.accessLog
        forwardedClient = configuration.trustsProxy.map(ForwardedClient.init)
        let files = FileFinder(cache: cache, items: configuration.items)
        self.files = files
        upkeep = HeapUpkeep(clock: configuration.clock)
        texts = SharedTexts(maximumBytes: configuration.mostTextBytes)
        catalog = TitleCatalog(cache, clock: configuration.clock)
        pictures = configuration.makePicture.map { TitlePictures(cache, make: $0) }
        control = Control(peers: configuration.peers, clock: configuration.clock)
        let logs = LogQueue(configuration.logger)
        let tokens = tokens
        self.logs = logs
        let streams = StreamKnowledge(isShared: cache.isShared, clock: configuration.clock)
        self.streams = streams
        liveExchanges = SharedExchanges(clock: configuration.clock)
        let filter: any BodyFilter =
            configuration.bodyFilter
            ?? PlaylistFilter(streams: streams, files: files, cast: configuration.cast) { url, error in
                logs.log(
                    .warning, "playlist sent as the origin sent it",
                    metadata: Self.hidingTokens(tokens, in: ["url": "\(url.redacted)", "error": "\(error)"]))
                cache.remark("A playlist was sent as it came. \(error.message)", about: url)
            }
        (bodyFilter, edgeFilter) = (filter, NotingFilter(filter: filter))
    }

    /// Which bodies are replaced by a text made from them, in answers to `audience`.
    func filter(for audience: Audience) -> any BodyFilter { audience == .edge ? edgeFilter : bodyFilter }

    /// Answers the requests of a new connection; must be called on its loop.
    func serve(_ channel: any Channel) throws {
        try SocketOptions.apply(to: channel)
        let admission = add(channel)
        if case .refused = admission { return channel.close(promise: nil) }
        if let encrypt = configuration.encrypt {
            try channel.pipeline.syncOperations.addHandler(
                PlainHTTPRefusal { [weak self] in self?.log(.debug, "plain HTTP at a port that speaks TLS", [:]) })
            try encrypt(channel)
        }
        let isSurplus = if case .surplus = admission { true } else { false }
        try channel.pipeline.syncOperations.addHandler(
            ConnectionHandler(
                service: self, watch: watch(on: channel.eventLoop), entrance: isSurplus ? .surplus : .port))
    }

    /// How a new connection is treated.
    private enum ConnectionAdmission {
        case admitted
        /// There are too many: it is answered with 503.
        case surplus
        /// There are too many even to answer it, or the proxy is closing.
        case refused
    }

    /// Number of connections beyond the limit that are answered with 503 at the same time.
    private var surplusConnections: Int { ProxyConfiguration.surplus(of: configuration.maximumConnections) }

    /// Number of accepted connections, those that are being refused included, at which no other one is accepted.
    var mostAccepted: Int { configuration.maximumConnections + surplusConnections + Self.beingRefused }

    /// Number of connections that may be waiting for their event loop to refuse them.
    private static let beingRefused = 8

    /// Admits or refuses a connection.
    private func add(_ channel: any Channel) -> ConnectionAdmission {
        let admission = state.withLock { state -> ConnectionAdmission in
            guard !state.isClosing else { return .refused }
            let surplus = state.channels.count - configuration.maximumConnections
            if surplus >= 0 { state.refused += 1 }
            guard surplus < surplusConnections else { return .refused }
            state.channels[ObjectIdentifier(channel)] = channel
            return surplus < 0 ? .admitted : .surplus
        }
        if case .refused = admission { return admission }
        channel.closeFuture.whenComplete { _ in self.remove(channel) }
        return admission
    }

    private func remove(_ channel: any Channel) {
        let isLast = state.withLock { state in
            state.channels[ObjectIdentifier(channel)] = nil
            return state.drain == .ending && state.channels.isEmpty
        }
        if isLast { isEmpty.fulfill() }
    }

    /// Most connections through the control socket.
    private static let mostControlConnections = 128

    /// Admits a connection through the control socket; false if there are too many, or the proxy is closing.
    func addControl(_ channel: any Channel) -> Bool {
        let isAdmitted = state.withLock { state in
            guard !state.isClosing, state.controlChannels.count < Self.mostControlConnections else { return false }
            state.controlChannels[ObjectIdentifier(channel)] = channel
            return true
        }
        guard isAdmitted else { return false }
        channel.closeFuture.whenComplete { _ in
            self.state.withLock { _ = $0.controlChannels.removeValue(forKey: ObjectIdentifier(channel)) }
        }
        return true
    }

    /// The watch of `loop`; must be called on that loop.
    func watch(on loop: any EventLoop) -> ConnectionWatch {
        let id = ObjectIdentifier(loop)
        if let watch = state.withLock({ $0.watches[id] }) { return watch.value }
        let watch = ConnectionWatch(
            on: loop, limits: configuration.deadlines, clock: configuration.clock,
            mostHeld: configuration.mostRequestBytes / max(1, configuration.threads), upkeep: upkeep)
        let bound = NIOLoopBound(watch, eventLoop: loop)
        state.withLock { $0.watches[id] = bound }
        // Only now: a change of the level that does not know this watch yet has been made before.
        watch.isLoggingRequests = isLoggingRequests
        return watch
    }

    // MARK: - The end

    /// Whether new requests should come here.
    var readiness: Readiness {
        if state.withLock({ $0.drain != .none || $0.isClosing }) { return .draining }
        if cache.isClosed { return .closed }
        return cache.isDegraded ? .degraded : .ready
    }

    /// Ends connections from now on, as far as `drain` says; returns when each of `loops` does so.
    ///
    /// Only then ``readiness`` says it: who reads there that the proxy drains must not be kept by a loop that does not
    /// know it yet. A connection that was accepted before has entered ``State/channels`` when its loop has answered.
    func drain(_ drain: Drain, on loops: EventLoopIterator) async {
        cache.downloads.commands.processEnds()
        for loop in loops {
            // A loop that has ended has no connections.
            try? await loop.submit { self.watch(on: loop).drain(drain) }.get()
        }
        let isEmpty = state.withLock { state in
            state.drain = drain
            return drain == .ending && state.channels.isEmpty
        }
        if isEmpty { self.isEmpty.fulfill() }
    }

    /// Opens when the last connection has closed after ``Drain/ending``.
    let isEmpty = Promise<Void>()

    /// Reads `region` from the disk on a thread that may block.
    func warm(_ region: StoredRegion) async {
        coldReads.withLock { $0 += 1 }
        await DiskQueue.shared.run { region.warm() }
    }

    /// Number of regions that had to be read from the disk before they were sent.
    let coldReads = Mutex(0)

    /// The last error because of which a media response failed or was broken off.
    var lastFailure: RepriseError? { failure.withLock { $0 } }

    private let failure = Mutex<RepriseError?>(nil)

    func noteFailure(_ error: RepriseError) { failure.withLock { $0 = error } }

    /// Logs `message` without waiting for the log's reader.
    func log(_ level: Logger.Level, _ message: Logger.Message, _ metadata: @autoclosure () -> Logger.Metadata) {
        guard configuration.logger.logLevel <= level else { return }
        logs.log(level, message, metadata: Self.hidingTokens(tokens, in: metadata()))
    }

    /// `metadata` without tokens, which a client may have put into a URL or a field.
    private static func hidingTokens(_ tokens: AccessTokens?, in metadata: Logger.Metadata) -> Logger.Metadata {
        guard let texts = tokens?.current.texts else { return metadata }
        return metadata.mapValues { "\(texts.hidden(in: "\($0)"))" }
    }

    /// Whether answers are logged; event loops have a copy, because this takes a lock.
    private var isLoggingRequests: Bool { configuration.logger.logLevel <= .info }

    /// Changes how much is logged, as `command` says; returns when each event loop does so.
    ///
    /// Throws ``RepriseError`` with code `invalidArgument` for what is no level.
    func changeLogLevel(_ command: LogLevelCommand) async throws(RepriseError) -> LogLevelCommand.Outcome {
        let level = try command.level.map { name throws(RepriseError) in try LogLevelCommand.level(named: name) }
        let former = configuration.logger.logLevel
        guard let level, let levels = configuration.logLevel else {
            return LogLevelCommand.Outcome(level: former.rawValue, former: former.rawValue)
        }
        levels.level = level
        for watch in watches {
            // A loop that has ended has no connections. What holds last counts, also if two change it at once.
            try? await watch.eventLoop.submit { watch.value.isLoggingRequests = self.isLoggingRequests }.get()
        }
        log(.notice, "log level changed", ["level": "\(level)", "former": "\(former)"])
        return LogLevelCommand.Outcome(level: level.rawValue, former: former.rawValue)
    }

    /// Logs an answer, if requests are being logged; a caller on an event loop knows whether they are.
    func log(
        _ request: MediaRequest, resource: @autoclosure () -> MediaResource, status: Int,
        cache: @autoclosure () -> String, isLogging: Bool? = nil
    ) {
        guard isLogging ?? isLoggingRequests else { return }
        log(
            .info, "request",
            [
                "method": "\(request.isHead ? "HEAD" : "GET")", "url": "\(resource().url.redacted)",
                "range": "\(request.head.value("range") ?? "-")", "status": "\(status)", "cache": "\(cache())",
            ])
    }

    /// Returns when everything logged so far is written, or after a second.
    func drainLog() async { await logs.drain() }

    /// Runs `body` in a task that ``endAnswers()`` waits for.
    func startTask(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        state.withLock { state in
            state.nextAnswer += 1
            let id = state.nextAnswer
            let task = Task {
                await body()
                self.state.withLock { _ = $0.answers.removeValue(forKey: id) }
            }
            state.answers[id] = task
            return task
        }
    }

    var answersUnderWay: Int { state.withLock { $0.answers.count } }
    var connections: Int { state.withLock { $0.channels.count } }
    var connectionsRefused: Int64 { state.withLock { $0.refused } }

    /// One for each event loop.
    var watches: [NIOLoopBound<ConnectionWatch>] { state.withLock { Array($0.watches.values) } }

    /// What the connections of all event loops have answered.
    ///
    /// Each loop says it in its turn; throws if one has ended.
    func answerTally() async throws -> AnswerTally {
        var tally = AnswerTally()
        for watch in watches {
            tally += try await watch.eventLoop.submit { watch.value.counts.tally }.get()
        }
        return tally
    }

    /// Closes all connections, and returns when nothing is in progress any more.
    func end() async {
        for channel in beginClosing() { try? await channel.close().get() }
        await endAnswers()
        await catalog.stop()
        pictures?.stop()
        liveExchanges.close()
        await drainLog()
    }

    /// Waits until no answer is in progress, because they use their event loop to the end.
    func endAnswers() async {
        for answer in state.withLock({ Array($0.answers.values) }) {
            answer.cancel()
            await answer.value
        }
    }

    /// Refuses new connections and returns the open ones.
    private func beginClosing() -> [any Channel] {
        state.withLock { state in
            state.isClosing = true
            return Array(state.channels.values) + Array(state.controlChannels.values)
        }
    }

    /// The file at `url`, if it is allowed.
    func resource(at url: ResourceURL) throws(Refusal) -> MediaResource {
        guard configuration.allows(url.host) else {
            throw Route.refusal(403, reason: "The host \(url.host) is not on this proxy's list.")
        }
        guard configuration.cast?.contains(url) ?? true else {
            throw Route.refusal(404, reason: "There is no such file here.")
        }
        do { return try files.resource(at: url) } catch {
            throw Route.refusal(503, reason: "The proxy is shutting down.")
        }
    }

    /// Whether `Host` is acceptable.
    ///
    /// A web page elsewhere must not use the proxy through a name that it points at 127.0.0.1 (DNS rebinding), so on
    /// loopback, `Host` must name this machine.
    func accepts(host: String?) -> Bool {
        // Devices have the address as the app has given it, which no name can stand for.
        if configuration.cast != nil { return host.flatMap { HostField($0)?.name } == configuration.host[...] }
        guard isLoopback, tokens == nil, let host else { return true }
        guard let name = HostField(host)?.name else { return false }
        return ProxyConfiguration.isLoopback(address: name) || name == configuration.host
            || name.lowercased() == "localhost"
    }

    /// Whether `sender` can look after this server through the port; `nil` if requests need no token.
    func mayBeControlled(by sender: Sender?) -> Bool {
        configuration.items == nil && (sender?.holder.token.mayControl ?? isLoopback)
    }

    /// Whether browsers get the page, those with the right token if there are tokens.
    var hasPage: Bool {
        configuration.servesPage && configuration.items == nil && (tokens != nil || isLoopback)
    }

    /// The address at which the client reaches this proxy, with `token`, or the token that was in the path.
    ///
    /// `Host` has been validated, so it contains only characters of a host and a port.
    func address(for head: ClientHead, showing token: String? = nil) -> String {
        let reached = head.value("host").map { "\(configuration.scheme)://\($0)" }
        let prefix = token.map { "/\($0)" } ?? head.pathPrefix
        return (reached ?? address ?? "\(configuration.scheme)://\(configuration.host)") + prefix
    }

    /// The text at the root of this proxy, with the address that the client of `head` uses.
    func indexText(for head: ClientHead) -> String {
        let statistics = cache.statistics
        let saved = statistics.bytesFromStore + statistics.bytesFromJoinedFetch
        return """
            Reprise media cache

            Put this proxy's address before a media URL, scheme as the first segment:
              \(address(for: head))/https/example.com/song.mp3

            Since the start: \(statistics.reads) reads, \(statistics.bytesServed) bytes served, \
            \(saved) of them without the origin, \(statistics.bytesFetched) fetched. On disk: \(cache.storedBytes) bytes.

            """
    }
}
