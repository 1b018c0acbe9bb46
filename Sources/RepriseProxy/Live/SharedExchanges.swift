import HTTPSemantics
import HTTPTypes
import Primitives
import Reprise

/// Responses of a stream's live edge: requests for the same are collapsed, and what came is kept in memory for a while
/// (rfc8216bis §B.1).
final class SharedExchanges: Sendable {
    /// What makes two requests the same.
    struct Key: Hashable, Sendable {
        let url: ResourceURL
        let range: RangeSpec?
        let ifRange: String?
        private let credentials: [[String]]

        init(_ url: ResourceURL, range: RangeSpec?, ifRange: String? = nil, fields: HTTPFields) {
            self.url = url
            self.range = range
            self.ifRange = ifRange
            credentials = [HTTPField.Name.authorization, .proxyAuthorization, .cookie].map { fields[values: $0] }
        }
    }

    /// How a reader came to its response.
    enum Part: Sendable {
        /// Its own request was sent.
        case leads
        /// It waits for another one's request.
        case collapsed
        /// The response was in memory.
        case kept
    }

    private struct Entry {
        let exchange: SharedExchange
        /// When the response was complete; `nil` while it is under way.
        var completed: Duration?
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var sweeper: Task<Void, Never>?
        var isClosed = false
    }

    /// Time between two searches for responses that are kept for too long.
    private static let sweepInterval = Duration.seconds(5)
    /// Longest time for which a response is kept.
    private static let longestTime = Duration.seconds(120)

    private let clock: CacheClock
    private let budget: MemoryBudget
    private let state = Mutex(State())

    init(clock: CacheClock, maximumBytes: Int = 64 << 20) {
        self.clock = clock
        budget = MemoryBudget(limit: maximumBytes)
    }

    /// Number of bytes in memory.
    var byteCount: Int { budget.byteCount }
    /// Number of responses that are kept or under way.
    var count: Int { state.withLock { $0.entries.count } }

    /// A reader of the response to a request with `fields`, which is sent with `ask` unless another one's response
    /// serves it by these rules.
    func reader(
        of key: Key, fields: HTTPFields, rules: KeepingRules,
        ask: @escaping @Sendable () async throws -> OriginResponse
    ) -> (SharedReader, Part) {
        while true {
            let found = state.withLock { $0.entries[key] }
            if let found, serves(found, fields: fields, rules: rules, at: clock.elapsed()),
                let reader = found.exchange.join()
            {
                return (reader, found.completed == nil ? .collapsed : .kept)
            }
            makeRoom()
            let (exchange, reader) = begin(fields) { [weak self] in self?.ended($0, of: key, ending: $1, rules: rules) }
            // Another request for it may have come since the look: then that one leads.
            let isFirst = state.withLock { state in
                guard state.entries[key]?.exchange === found?.exchange else { return false }
                state.entries[key] = Entry(exchange: exchange)
                return true
            }
            guard isFirst else { continue }
            withExtendedLifetime(found) {}
            exchange.start(ask)
            return (reader, .leads)
        }
    }

    /// Whether a response that is kept or under way may answer a request with `fields`, as far as it is known.
    private func serves(_ entry: Entry, fields: HTTPFields, rules: KeepingRules, at now: Duration) -> Bool {
        guard let head = entry.exchange.head else { return true }
        guard rules.mayShare(head, askedWith: entry.exchange.fields, by: fields) else { return false }
        return entry.completed.map { now - $0 < min(rules.lifetime(of: head), Self.longestTime) } ?? true
    }

    /// A reader of a response that no other request shares.
    func reader(fields: HTTPFields, ask: @escaping @Sendable () async throws -> OriginResponse) -> SharedReader {
        let (exchange, reader) = begin(fields) { _, _ in }
        exchange.start(ask)
        return reader
    }

    /// Drops everything that is kept.
    func close() {
        let (sweeper, entries) = state.withLock { state in
            state.isClosed = true
            defer { (state.sweeper, state.entries) = (nil, [:]) }
            return (state.sweeper, state.entries)
        }
        sweeper?.cancel()
        withExtendedLifetime(entries) {}
    }

    private func begin(
        _ fields: HTTPFields, onEnd: @escaping @Sendable (SharedExchange, SharedExchange.Ending) -> Void
    ) -> (SharedExchange, SharedReader) {
        let exchange = SharedExchange(fields: fields, budget: budget, wallClock: clock.now, onEnd: onEnd)
        return (exchange, exchange.firstReader())
    }

    private func ended(
        _ exchange: SharedExchange, of key: Key, ending: SharedExchange.Ending, rules: KeepingRules
    ) {
        let now = clock.elapsed()
        state.withLock { state in
            guard state.entries[key]?.exchange === exchange else { return }
            if case .complete(let head) = ending, rules.mayKeep(head), !state.isClosed {
                state.entries[key]?.completed = now
                if state.sweeper == nil { state.sweeper = sweeping() }
            } else {
                state.entries[key] = nil
            }
        }
    }

    /// Drops the oldest responses while half of the memory is taken.
    private func makeRoom() {
        var dropped: [Entry] = []
        state.withLock { state in
            guard budget.byteCount > budget.limit / 2 else { return }
            let kept = state.entries.filter { $0.value.completed != nil }
                .sorted { ($0.value.completed ?? .zero) < ($1.value.completed ?? .zero) }
            for (key, _) in kept.prefix(max(1, kept.count / 2)) {
                if let entry = state.entries.removeValue(forKey: key) { dropped.append(entry) }
            }
        }
        withExtendedLifetime(dropped) {}
    }

    /// Drops old responses at regular intervals, until none is left.
    private func sweeping() -> Task<Void, Never> {
        Task { [weak self, clock] in
            while (try? await clock.sleep(Self.sweepInterval)) != nil {
                guard self?.dropOld() == true else { return }
            }
        }
    }

    /// Whether any response is left.
    private func dropOld() -> Bool {
        let now = clock.elapsed()
        var dropped: [Entry] = []
        return state.withLock { state in
            for (key, entry) in state.entries where entry.completed.map({ now - $0 >= Self.longestTime }) == true {
                dropped.append(entry)
                state.entries[key] = nil
            }
            let isLeft = state.entries.contains { $0.value.completed != nil }
            if !isLeft { state.sweeper = nil }
            return isLeft
        }
    }
}
