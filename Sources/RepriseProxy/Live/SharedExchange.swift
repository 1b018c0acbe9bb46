import HTTPTypes
import Primitives
import Reprise

/// One request to an origin, and its response on its way to several clients, in memory.
///
/// Begins with its first reader and is abandoned when the last one leaves before the end. Continuations are resumed
/// outside the lock, which is a leaf but for the budget's.
final class SharedExchange: Sendable {
    /// The head of the response.
    struct Head: Sendable {
        let response: HTTPResponse
        /// The URL that answered, after redirects.
        let url: ResourceURL
        /// In seconds since 1970.
        let requestTime: Double
        /// In seconds since 1970.
        let responseTime: Double
    }

    /// How an exchange ended.
    enum Ending: Sendable {
        case complete(Head)
        /// The origin failed, or no reader was left.
        case failed
    }

    private struct State {
        var head: Head?
        var body = SharedBody()
        var failure: (any Error)?
        var claimed = 0
        var isAbandoned = false
        /// By reader; the fetch waits as reader 0.
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var fetch: Task<Void, Never>?

        var isOver: Bool { failure != nil || body.hasEnded }

        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            defer { waiters = [:] }
            return Array(waiters.values)
        }
    }

    /// Maximum number of bytes of one body that are kept.
    static let longestBody = 16 << 20
    private static let fetcher = 0
    private static let overtaken = RepriseError(
        .storageFull,
        "The client reads too slowly for a response that other clients read, too, and that is too large for the memory."
    )

    /// The fields of the request that was sent.
    let fields: HTTPFields
    private let budget: MemoryBudget
    private let wallClock: @Sendable () -> Double
    private let onEnd: @Sendable (SharedExchange, Ending) -> Void
    private let state = Mutex(State())

    /// An exchange that sends a request with `fields`; `onEnd` is called once, from any thread, when it is over.
    init(
        fields: HTTPFields, budget: MemoryBudget, wallClock: @escaping @Sendable () -> Double,
        onEnd: @escaping @Sendable (SharedExchange, Ending) -> Void
    ) {
        (self.fields, self.budget, self.wallClock, self.onEnd) = (fields, budget, wallClock, onEnd)
    }

    deinit { budget.release(state.withLock { $0.claimed }) }

    /// The reader that the exchange begins with; must be called once.
    func firstReader() -> SharedReader { SharedReader(SharedBody.firstReader, of: self) }

    /// Adds a reader; `nil` if the beginning is gone, or the exchange failed.
    func join() -> SharedReader? {
        let reader = state.withLock { state in
            state.isAbandoned || state.failure != nil ? nil : state.body.addReader()
        }
        return reader.map { SharedReader($0, of: self) }
    }

    /// Sends the request with `ask`.
    func start(_ ask: @escaping @Sendable () async throws -> OriginResponse) {
        let task = Task { await self.fetch(ask) }
        let isAbandoned = state.withLock { state in
            state.fetch = task
            return state.isAbandoned
        }
        if isAbandoned { task.cancel() }
    }

    /// The head, if it is here.
    var head: Head? { state.withLock { $0.head } }

    /// Whether the response has arrived completely.
    var isComplete: Bool { state.withLock { $0.body.hasEnded } }

    // MARK: The fetch

    private func fetch(_ ask: @Sendable () async throws -> OriginResponse) async {
        let requestTime = wallClock()
        var body: (any OriginBody)?
        do {
            let response = try await ask()
            body = response.body
            let head = Head(
                response: response.head, url: response.url, requestTime: requestTime, responseTime: wallClock())
            change { $0.head = head }
            while let piece = try await response.body.next() {
                try Task.checkCancellation()
                take(piece)
                await wait(as: Self.fetcher) { $0.body.hasRoom || $0.isAbandoned }
                try Task.checkCancellation()
            }
            // A body that was canceled ends like a complete one.
            try Task.checkCancellation()
            change { $0.body.end() }
            onEnd(self, .complete(head))
        } catch {
            body?.cancel()
            change { $0.failure = error }
            onEnd(self, .failed)
        }
    }

    private func take(_ piece: any ByteChunk) {
        let isClaimed = budget.claim(piece.count)
        change { state in
            if isClaimed { state.claimed += piece.count }
            state.body.append(piece)
            if !isClaimed || state.body.byteCount > Self.longestBody { state.body.keepOnlyWindow() }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let woken = state.withLock { state in
            body(&state)
            return state.takeWaiters()
        }
        for waiter in woken { waiter.resume() }
    }

    /// Returns when `isReady`, or when the task was canceled.
    private func wait(as waiter: Int, until isReady: @Sendable (borrowing State) -> Bool) async {
        while true {
            let mayGoOn = state.withLock { Task.isCancelled || isReady($0) }
            if mayGoOn { return }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let mayGoOn = state.withLock { state in
                        if Task.isCancelled || isReady(state) { return true }
                        state.waiters[waiter] = continuation
                        return false
                    }
                    if mayGoOn { continuation.resume() }
                }
            } onCancel: {
                state.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume()
            }
        }
    }

    // MARK: Readers

    fileprivate func head(for reader: Int) async throws -> Head {
        await wait(as: reader) { $0.head != nil || $0.failure != nil }
        try Task.checkCancellation()
        let (head, failure) = state.withLock { ($0.head, $0.failure) }
        if let head { return head }
        throw failure ?? CancellationError()
    }

    fileprivate func next(for reader: Int) async throws -> (any ByteChunk)? {
        while true {
            try Task.checkCancellation()
            var woken: [CheckedContinuation<Void, Never>] = []
            let (step, failure) = state.withLock { state -> (SharedBody.Step, (any Error)?) in
                let step = state.body.next(for: reader)
                // Only the fetch waits for a reader to move.
                if let fetch = state.waiters.removeValue(forKey: Self.fetcher) { woken = [fetch] }
                return (step, state.failure)
            }
            for waiter in woken { waiter.resume() }
            switch step {
            case .piece(let piece): return piece
            case .end: return nil
            case .overtaken: throw Self.overtaken
            case .wait:
                if let failure { throw failure }
                await wait(as: reader) { $0.body.hasNext(for: reader) || $0.failure != nil }
            }
        }
    }

    fileprivate func leave(_ reader: Int) {
        let (fetch, woken) = state.withLock { state -> (Task<Void, Never>?, [CheckedContinuation<Void, Never>]) in
            state.body.removeReader(reader)
            guard !state.body.isWanted, !state.isOver else { return (nil, state.takeWaiters()) }
            state.isAbandoned = true
            return (state.fetch, state.takeWaiters())
        }
        fetch?.cancel()
        for waiter in woken { waiter.resume() }
    }
}

/// One client's place in a ``SharedExchange``.
///
/// One consumer. Leaves when it is released, at the latest.
final class SharedReader: Sendable {
    let exchange: SharedExchange
    private let number: Int

    fileprivate init(_ number: Int, of exchange: SharedExchange) {
        self.number = number
        self.exchange = exchange
    }

    deinit { exchange.leave(number) }

    /// The head of the response, when it has arrived.
    ///
    /// Throws what the origin's client threw, or `CancellationError`.
    func head() async throws -> SharedExchange.Head { try await exchange.head(for: number) }

    /// The next bytes; `nil` at the end of the body.
    ///
    /// Throws as ``head()`` does.
    func next() async throws -> (any ByteChunk)? { try await exchange.next(for: number) }

    /// Ends the reading; the request is abandoned if no other reader is left.
    func leave() { exchange.leave(number) }
}
