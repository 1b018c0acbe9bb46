import Primitives
import Reprise

/// A body that is pulled no faster than the rate of its host allows, together with the host's other bodies.
///
/// What is not pulled stays in the origin's socket. When it is canceled, what has arrived is returned without waiting.
final class PacedBody: OriginBody {
    private struct State {
        var isOver = false
        /// The wait for the next pull.
        var timer: Task<Void, Never>?
    }

    private let body: any OriginBody
    private let pace: HostPace
    private let state = Mutex(State())

    init(_ body: any OriginBody, pace: HostPace) {
        (self.body, self.pace) = (body, pace)
    }

    func next() async throws -> (any ByteChunk)? {
        let claim = pace.claim()
        var count = 0
        defer { pace.settle(claim, bytes: count) }
        while !Task.isCancelled {
            let delay = pace.delay(of: claim)
            guard delay > .zero, await wait(delay) else { break }
        }
        let piece = try await body.next()
        count = piece?.count ?? 0
        return piece
    }

    func cancel() {
        let timer = state.withLock { state in
            state.isOver = true
            return state.timer
        }
        timer?.cancel()
        body.cancel()
    }

    /// Waits for `time`, less if the task or the body is canceled; false if the body was.
    private func wait(_ time: Duration) async -> Bool {
        let timer = Task { [clock = pace.clock] in _ = try? await clock.sleep(time) }
        let isOver = state.withLock { state in
            state.timer = timer
            return state.isOver
        }
        if isOver { timer.cancel() }
        await withTaskCancellationHandler {
            await timer.value
        } onCancel: {
            timer.cancel()
        }
        return state.withLock { state in
            state.timer = nil
            return !state.isOver
        }
    }
}

/// The rates of hosts, each of which all bodies from that host share.
///
/// Its lock is taken before those of single paces, which are leaves.
final class HostPaces: Sendable {
    /// The rate of a host in bytes per second; `nil` for as fast as it sends.
    private let rate: @Sendable (String) -> Int64?
    private let clock: CacheClock
    private let paces = Mutex<[String: HostPace]>([:])

    /// Paces beyond this number are forgotten when they make nothing wait.
    private static let mostIdle = 64

    init(rate: @escaping @Sendable (String) -> Int64?, clock: CacheClock) {
        (self.rate, self.clock) = (rate, clock)
    }

    /// `body` from `host`, pulled no faster than the rate of that host.
    func pacing(_ body: any OriginBody, from host: String) -> any OriginBody {
        guard let rate = rate(host) else { return body }
        let pace = paces.withLock { paces in
            if let known = paces[host] { return known }
            if paces.count >= Self.mostIdle { paces = paces.filter { $0.value.isInDebt } }
            let new = HostPace(rate: rate, clock: clock)
            paces[host] = new
            return new
        }
        return PacedBody(body, pace: pace)
    }

    /// Number of hosts of which something is known.
    var count: Int { paces.withLock { $0.count } }
}

/// The rate of one host.
final class HostPace: Sendable {
    let clock: CacheClock
    private let pace: Mutex<TransferPace>

    init(rate: Int64, clock: CacheClock) {
        self.clock = clock
        pace = Mutex(TransferPace(rate: rate, at: clock.elapsed()))
    }

    /// Whether a pull would have to wait.
    var isInDebt: Bool {
        let now = clock.elapsed()
        return pace.withLock { $0.isInDebt(at: now) }
    }

    /// Claims a place for a pull.
    func claim() -> TransferPace.Claim {
        let now = clock.elapsed()
        return pace.withLock { $0.claim(atMost: nil, at: now) }
    }

    /// How long a pull must still wait.
    func delay(of claim: TransferPace.Claim) -> Duration {
        let now = clock.elapsed()
        return pace.withLock { $0.delay(of: claim, at: now) }
    }

    /// A pull has brought `count` bytes.
    func settle(_ claim: TransferPace.Claim, bytes count: Int) {
        let now = clock.elapsed()
        pace.withLock { $0.settle(claim, bytes: Int64(count), at: now) }
    }
}
