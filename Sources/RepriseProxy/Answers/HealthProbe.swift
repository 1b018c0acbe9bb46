import Reprise

/// A question of a supervisor or balancer: whether the process lives, and whether it should get requests.
///
/// Anyone may ask, with any `Host` and without the token, because the answer says nothing else.
enum HealthProbe {
    case live
    case ready

    /// The probe that `head` is; `nil` for every other request.
    init?(_ head: borrowing ClientHead) {
        // Most requests are told apart by the length of their target.
        switch head.target.utf8.count {
        case 7 where head.target == "/-/live": self = .live
        case 8 where head.target == "/-/ready": self = .ready
        default: return nil
        }
        guard head.method == .get || head.method == .head else { return nil }
    }

    /// The answer of a proxy in that state.
    func answer(_ readiness: Readiness) -> OwnAnswer {
        let fields = [("Cache-Control", "no-store")]
        switch (self, readiness) {
        case (.live, _): return OwnAnswer(status: 200, fields: fields, text: "ok\n")
        case (.ready, .ready), (.ready, .degraded):
            return OwnAnswer(status: 200, fields: fields, text: "\(readiness.rawValue)\n")
        case (.ready, .draining), (.ready, .closed):
            return OwnAnswer(
                status: 503, fields: fields + [("Retry-After", "\(Self.pause)")], text: "\(readiness.rawValue)\n")
        }
    }

    /// Seconds after which to ask a proxy again that is about to end.
    private static let pause = 5
}

/// Whether a proxy should get requests.
enum Readiness: String {
    /// It should.
    case ready
    /// It should, but its store cannot be written: everything streams.
    case degraded
    /// It is about to end; ``ProxyServer/drain(delay:timeout:)`` was called.
    case draining
    /// Its cache is closed.
    case closed
}
