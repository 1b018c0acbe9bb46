import Primitives

/// The hosts that could not be reached, or did not answer, a short time ago.
///
/// A host is away from a failed request until one is answered, and for a limited time: then the next request finds out.
package final class AwayHosts: Sendable {
    /// How long a failure counts by default.
    static let memory = Duration.seconds(10)
    /// Most hosts that are remembered.
    private static let most = 256

    private let clock: CacheClock
    private let memory: Duration
    private let failures = Mutex<[String: Duration]>([:])

    package convenience init(clock: CacheClock) { self.init(clock: clock, memory: Self.memory) }

    /// Creates an empty list in which a failure counts for `memory`.
    init(clock: CacheClock, memory: Duration) { (self.clock, self.memory) = (clock, memory) }

    /// Whether the host, with its port, is away.
    package func contains(_ authority: String) -> Bool {
        let now = clock.elapsed()
        return failures.withLock { $0[authority].map { now - $0 < memory } ?? false }
    }

    /// Whether the caller may try the host: it is not away, or the caller is the first since that time is over.
    ///
    /// That one claims the try: for others the host stays away, until it is answered or as long again.
    package func claimsTry(of authority: String) -> Bool {
        let now = clock.elapsed()
        return failures.withLock { failures in
            guard let last = failures[authority] else { return true }
            guard now - last >= memory else { return false }
            failures[authority] = now
            return true
        }
    }

    /// Notes that the host has answered.
    package func noteAnswer(from authority: String) {
        failures.withLock { if !$0.isEmpty { $0[authority] = nil } }
    }

    /// Notes why a request to the host has no answer.
    ///
    /// One that was not answered in time is no proof: the host may be there, and only this file slow.
    package func note(_ error: any Error, from authority: String) {
        switch (error as? RepriseError)?.code {
        case .networkUnavailable, .originUnreachable, .originNotFound: break
        default: return
        }
        noteFailure(of: authority)
    }

    /// Notes that the host cannot be reached, or does nothing.
    package func noteFailure(of authority: String) {
        let now = clock.elapsed()
        failures.withLock { failures in
            if failures.count >= Self.most { failures = failures.filter { now - $0.value < memory } }
            if failures.count < Self.most { failures[authority] = now }
        }
    }
}
