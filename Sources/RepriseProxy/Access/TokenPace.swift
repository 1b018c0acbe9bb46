import Primitives
import Reprise

/// Holds all answers to those who use one token to one rate together.
///
/// An answer takes its next piece when the bytes before it are earned. The lock is a leaf.
final class TokenPace: Sendable {
    private let state = Mutex<TransferPace?>(nil)

    /// Most bytes of a piece at `rate`, in bytes per second: those of a tenth of a second, so that a slow client never
    /// waits long for some; few enough pieces at high rates, and no smaller ones than is worth a call of the system.
    static func largestPiece(at rate: Int64) -> Int { Int(min(max(rate / 10, 4 << 10), 1 << 20)) }

    /// The next piece of an answer, at most ``largestPiece(at:)``, taken by `next` when `rate` allows it.
    ///
    /// Throws `CancellationError` if the task is canceled while it waits.
    func piece(
        at rate: Int64, by clock: CacheClock, _ next: () async throws -> MediaPiece?
    ) async throws -> MediaPiece? {
        let claim = claim(at: rate, clock.elapsed())
        var count: Int64 = 0
        defer {
            let now = clock.elapsed()
            state.withLock { $0?.settle(claim, bytes: count, at: now) }
        }
        while case let delay = delay(of: claim, clock.elapsed()), delay > .zero { try await clock.sleep(delay) }
        let piece = try await next()
        count = Int64(piece?.count ?? 0)
        return piece
    }

    /// Claims a place; the rate may have been changed since the last one.
    private func claim(at rate: Int64, _ now: Duration) -> TransferPace.Claim {
        state.withLock { state in
            var pace = state ?? TransferPace(rate: rate, at: now)
            pace.change(to: rate, at: now)
            defer { state = pace }
            return pace.claim(atMost: Int64(Self.largestPiece(at: rate)), at: now)
        }
    }

    private func delay(of claim: TransferPace.Claim, _ now: Duration) -> Duration {
        state.withLock { $0?.delay(of: claim, at: now) ?? .zero }
    }
}
