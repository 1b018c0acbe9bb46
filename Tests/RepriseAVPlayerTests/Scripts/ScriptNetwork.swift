#if REPRISE_AVFOUNDATION_STAND_IN
    import ByteRanges
    import Foundation
    import HTTPSemantics
    import HTTPTypes
    import Primitives
    import Reprise
    import RepriseHTTPClient
    import RepriseTesting

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// The network between the engine and the real test origin: bytes come over real sockets, but when they arrive is
    /// up to the virtual clock, and every byte that arrives is counted.
    final class ScriptNetwork: Origin {
        /// One request.
        struct Exchange: Sendable {
            let resource: String
            let method: String
            let start: Int64
            let networkPolicy: NetworkPolicy
            let begin: ManualClock.Instant
            var received: Int64 = 0
            var isOpen = true
        }

        /// Bytes of one representation that arrived.
        struct Arrival: Sendable {
            let exchange: Int
            let resource: String
            let version: Int64
            let range: Range<Int64>
            let time: ManualClock.Instant
        }

        /// Bytes of one file that were asked for twice.
        ///
        /// Without the ends of chunks that were on their way when a later request took over what follows: they cannot
        /// be called back.
        struct Repeats: Sendable {
            var bytes: Int64 = 0
            /// The later requests of that kind.
            var takeovers: Set<Int> = []
        }

        struct State: Sendable {
            var isOffline = false
            /// There is no other network than one that costs.
            var isExpensive = false
            /// No latency and no pace: for what happens before a script begins.
            var isInstant = true
            var servers: [String: ScriptServer] = [:]
            var names: [String: String] = [:]
            var exchanges: [Exchange] = []
            var arrivals: [Arrival] = []
            var distinct: [String: ByteRangeSet] = [:]
            var duplicates: [String: Int64] = [:]
            var isShutDown = false
            /// What hangs, by exchange.
            var stalled: [Int: CheckedContinuation<Void, Never>] = [:]
        }

        static let tick = Duration.milliseconds(10)

        let clock: ManualClock
        let state = Mutex(State())
        /// Waits for the real socket: the moment is not over before they are.
        private let sockets = IdleWait()
        private let client: NIOOrigin

        init(clock: ManualClock, client: NIOOrigin) {
            self.clock = clock
            self.client = client
        }

        var isBusy: Bool { !sockets.isIdle }
        var openExchanges: Int { state.withLock { state in state.exchanges.count { $0.isOpen } } }

        func setOffline(_ isOffline: Bool) {
            state.withLock { $0.isOffline = isOffline }
            wakeStalled()
        }

        /// Ends whatever hangs.
        func shutdown() {
            state.withLock { $0.isShutDown = true }
            wakeStalled()
        }

        private func wakeStalled() {
            let stalled = state.withLock { state in
                defer { state.stalled = [:] }
                return state.stalled
            }
            for continuation in stalled.values { continuation.resume() }
        }

        /// Forgets what was counted so far.
        func startScript() {
            state.withLock { state in
                state.isInstant = false
                state.exchanges = []
                state.arrivals = []
                state.distinct = [:]
                state.duplicates = [:]
            }
        }

        // MARK: - Origin

        func send(_ request: OriginRequest) async throws -> OriginResponse {
            let path = String(request.url.target.prefix { $0 != "?" })
            let begin = clock.now
            let (server, isInstant, id) = try state.withLock { state -> (ScriptServer, Bool, Int) in
                if state.isOffline { throw Self.offline }
                if state.isShutDown { throw RepriseError(.closed, "The script has ended.") }
                let name = state.names[path] ?? path
                let start = request.fields[.range].flatMap { Self.start(of: $0) } ?? 0
                state.exchanges.append(
                    Exchange(
                        resource: name, method: request.method.rawValue, start: start,
                        networkPolicy: request.networkPolicy, begin: begin))
                return (state.servers[name] ?? ScriptServer(), state.isInstant, state.exchanges.count - 1)
            }
            do {
                if !isInstant {
                    try await clock.sleep(for: Self.tick * Int(server.newConnectionLatencyTicks ?? server.latencyTicks))
                    if server.hangs { try await stall(id) }
                    if let code = server.failWith, server.failAfterBytes == nil { throw Self.failure(code) }
                }
                try checkOnline(request)
                let response = try await real { try await self.client.send(request) }
                let status = response.head.status
                let start = Self.start(ofBody: response.head)
                let body = ScriptBody(
                    response.body, network: self, exchange: id, server: isInstant ? nil : server,
                    counted: status == .ok || status == .partialContent ? start : nil)
                if request.method == .head { close(id) }
                return OriginResponse(head: response.head, url: response.url, body: body)
            } catch {
                close(id)
                throw error
            }
        }

        /// Runs `work`, which waits for a real socket.
        func real<Value: Sendable>(_ work: () async throws -> Value) async rethrows -> Value {
            sockets.begin()
            defer { sockets.end() }
            return try await work()
        }

        /// Waits for a moment at which nothing waits for a real socket.
        func idle() async { await sockets.idle() }

        /// Waits for the end of the script, of the exchange or of the task, or for the network to go.
        func stall(_ id: Int) async throws {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isOver = state.withLock { state in
                        let isClosed = state.exchanges.indices.contains(id) && !state.exchanges[id].isOpen
                        guard !state.isShutDown, !state.isOffline, !isClosed, !Task.isCancelled else { return true }
                        state.stalled[id] = continuation
                        return false
                    }
                    if isOver { continuation.resume() }
                }
            } onCancel: {
                state.withLock { $0.stalled.removeValue(forKey: id) }?.resume()
            }
            try Task.checkCancellation()
            try checkOnline()
        }

        /// Throws if `request` may not use the network that is there.
        private func checkOnline(_ request: OriginRequest) throws {
            try checkOnline()
            if request.networkPolicy != .any, state.withLock({ $0.isExpensive }) { throw Self.offline }
        }

        func checkOnline() throws {
            if state.withLock({ $0.isShutDown }) { throw RepriseError(.closed, "The script has ended.") }
            if state.withLock({ $0.isOffline }) { throw Self.offline }
        }

        func close(_ exchange: Int) {
            let stalled = state.withLock { state in
                if state.exchanges.indices.contains(exchange) { state.exchanges[exchange].isOpen = false }
                return state.stalled.removeValue(forKey: exchange)
            }
            stalled?.resume()
        }

        /// Counts bytes of a representation that have arrived.
        func arrived(_ range: Range<Int64>, in exchange: Int) {
            let now = clock.now
            state.withLock { state in
                guard state.exchanges.indices.contains(exchange), !range.isEmpty else { return }
                let name = state.exchanges[exchange].resource
                let arrival = Arrival(
                    exchange: exchange, resource: name, version: state.servers[name]?.version ?? 1, range: range,
                    time: now)
                state.exchanges[exchange].received += range.upperBound - range.lowerBound
                state.arrivals.append(arrival)
                state.distinct[arrival.file, default: ByteRangeSet()].count(
                    range, into: &state.duplicates[name, default: 0])
            }
        }

        // MARK: - Errors and numbers

        static let offline = RepriseError(
            .networkUnavailable, "There is no network.", cause: URLError(.notConnectedToInternet))

        /// What a client throws for a failure with this code of `NSURLErrorDomain`.
        static func failure(_ code: Int64) -> RepriseError {
            let cause = URLError(URLError.Code(rawValue: Int(code)) ?? .networkConnectionLost)
            return switch cause.code {
            case .timedOut: RepriseError(.originTimedOut, "The server has gone quiet.", cause: cause)
            case .notConnectedToInternet: offline
            case .cannotFindHost, .dnsLookupFailed:
                RepriseError(.originNotFound, "There is no such host.", cause: cause)
            case .cannotConnectToHost: RepriseError(.originUnreachable, "The server refuses.", cause: cause)
            default: RepriseError(.originBodyTruncated, "The connection broke.", cause: cause)
            }
        }

        private static func start(of range: String) -> Int64? {
            guard let equals = range.firstIndex(of: "=") else { return nil }
            return Int64(range[range.index(after: equals)...].prefix { $0.isNumber })
        }

        private static func start(ofBody head: HTTPResponse) -> Int64 {
            guard head.status == .partialContent, let field = head.headerFields[.contentRange],
                case .satisfied(let range, _)? = ContentRange(field)
            else { return 0 }
            return range.lowerBound
        }
    }

    extension ScriptNetwork.Arrival {
        /// The representation, under one name for each version.
        fileprivate var file: String { "\(resource)#\(version)" }
    }

    extension ScriptNetwork.State {
        /// What was asked for twice, by resource.
        var repeats: [String: ScriptNetwork.Repeats] {
            var asked: [String: ByteRangeSet] = [:]
            var repeats: [String: ScriptNetwork.Repeats] = [:]
            for arrival in arrivals {
                let takeover = takeover(of: arrival)
                let upper = takeover.map { exchanges[$0].start } ?? arrival.range.upperBound
                var found = repeats[arrival.resource] ?? ScriptNetwork.Repeats()
                asked[arrival.file, default: ByteRangeSet()].count(
                    arrival.range.lowerBound..<upper, into: &found.bytes)
                if let takeover { found.takeovers.insert(takeover) }
                repeats[arrival.resource] = found
            }
            return repeats
        }

        /// A later request for the same file that begins within `arrival` and was sent by the moment of its arrival.
        private func takeover(of arrival: ScriptNetwork.Arrival) -> Int? {
            exchanges.indices[(arrival.exchange + 1)...].filter { index in
                let later = exchanges[index]
                return later.resource == arrival.resource && later.method == "GET" && later.begin <= arrival.time
                    && later.start > arrival.range.lowerBound && later.start < arrival.range.upperBound
            }.min { exchanges[$0].start < exchanges[$1].start }
        }
    }

    extension ByteRangeSet {
        /// Inserts `range` and adds what was there already to `duplicates`.
        fileprivate mutating func count(_ range: Range<Int64>, into duplicates: inout Int64) {
            let new = holes(in: range).reduce(Int64(0)) { $0 + $1.upperBound - $1.lowerBound }
            duplicates += range.upperBound - range.lowerBound - new
            insert(range)
        }
    }
#endif
