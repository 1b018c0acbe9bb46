import Primitives

/// Holds all downloads of a cache to one rate together, where their bodies are pulled from origins.
///
/// What is not pulled stays in the origin's socket. Only the class `download` waits here; a body that a player wants,
/// too, is pulled as fast as it comes. The lock is a leaf.
final class DownloadPace: Sendable {
    private struct State {
        var rate: Int64?
        var pace: TransferPace
        /// Pulls that wait.
        var waiting = 0
    }

    private let state: Mutex<State>
    private let clock: CacheClock

    /// A changed rate is noticed at the latest after this time.
    private static let longestSleep = Duration.seconds(1)

    init(rate: Int64?, clock: CacheClock) {
        self.clock = clock
        state = Mutex(State(rate: rate, pace: TransferPace(rate: rate, at: clock.elapsed())))
    }

    /// Bytes per second; `nil` for no limit.
    var rate: Int64? {
        get { state.withLock { $0.rate } }
        set {
            let now = clock.elapsed()
            state.withLock { state in
                state.rate = newValue
                state.pace.change(to: newValue, at: now)
            }
        }
    }

    /// Pulls that wait for their time.
    var waiting: Int { state.withLock { $0.waiting } }

    /// Returns when a body that is wanted with that interest may be pulled for at most `most` bytes;
    /// ``settling(_:pull:)`` follows with what is returned.
    ///
    /// `nil`, at once, without a limit or if it is not a download's alone; also when the task is canceled.
    func admit(_ interest: RequestInterest, atMost most: Int64? = nil) async -> TransferPace.Claim? {
        guard interest.demand == .download else { return nil }
        let now = clock.elapsed()
        guard let claim = state.withLock({ $0.rate == nil ? nil : $0.pace.claim(atMost: most, at: now) }) else {
            return nil
        }
        while !Task.isCancelled, interest.demand == .download {
            let now = clock.elapsed()
            let delay = state.withLock { $0.pace.delay(of: claim, at: now) }
            guard delay > .zero else { return claim }
            state.withLock { $0.waiting += 1 }
            await interest.sleep(min(delay, Self.longestSleep), while: .download, on: clock)
            state.withLock { $0.waiting -= 1 }
        }
        settle(claim, bytes: 0)
        return nil
    }

    /// Pulls, and counts what that brings under `claim`.
    func settling(
        _ claim: TransferPace.Claim?, pull: () async throws -> (any ByteChunk)?
    ) async rethrows -> (any ByteChunk)? {
        guard let claim else { return try await pull() }
        var count = 0
        defer { settle(claim, bytes: count) }
        let chunk = try await pull()
        count = chunk?.count ?? 0
        return chunk
    }

    private func settle(_ claim: TransferPace.Claim, bytes count: Int) {
        let now = clock.elapsed()
        state.withLock { $0.pace.settle(claim, bytes: Int64(count), at: now) }
    }
}
