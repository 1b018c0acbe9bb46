import Primitives
import RepriseTesting

/// A fault in one answer of an origin.
enum Fault: Equatable, Sendable {
    case none
    /// FIN after this share of the body, which is cut off there.
    case close(after: Double)
    /// RST after this share of the body.
    case reset(after: Double)
    /// Nothing for this many seconds after this share of the body.
    case stall(after: Double, seconds: Double)
    /// No head for this many seconds, then FIN.
    case silence(seconds: Double)
    /// This status instead of the file.
    case status(Int)
    /// A Content-Range that names bytes other than the requested ones.
    case shiftedRange
    /// A Content-Range whose complete length ends before its bytes do.
    case shortLength
    /// At this many bytes per second.
    case slow(bytesPerSecond: Double)

    /// Whether it may break off a client's response; the cache has to bridge the other faults.
    func mayBreak(_ kind: MediaFile.Kind) -> Bool {
        switch self {
        case .none, .slow: false
        // A strong validator allows continuing with another request.
        case .close, .reset: !kind.isJoinable
        // Reprise waits for 30 s.
        case .stall(_, let seconds): seconds > 25
        case .silence, .status, .shiftedRange, .shortLength: true
        }
    }
}

/// Assigns faults to answers, by a seed.
final class FaultPlan: Sendable {
    private struct State {
        var random: SeededGenerator
        /// The end of a burst of 503 answers, in seconds of uptime.
        var burstEnd = -Double.infinity
    }

    private let share: Double
    private let state: Mutex<State>

    /// A `share` of all answers gets a fault; 0 for an honest origin.
    init(share: Double, seed: UInt64) {
        self.share = share
        state = Mutex(State(random: SeededGenerator(seed: seed)))
    }

    /// The fault of the next answer.
    func next(at time: Double) -> Fault {
        state.withLock { [share] state in
            if time < state.burstEnd { return .status(503) }
            guard Double.random(in: 0..<1, using: &state.random) < share else { return .none }
            let place = Double.random(in: 0..<1, using: &state.random)
            switch Int.random(in: 0..<12, using: &state.random) {
            case 0, 1: return .close(after: place)
            case 2: return .reset(after: place)
            case 3: return .stall(after: place, seconds: .random(in: 1...20, using: &state.random))
            // Longer than Reprise waits for bytes.
            case 4: return .stall(after: place, seconds: 40)
            case 5: return .silence(seconds: .random(in: 1...10, using: &state.random))
            case 6: return .status(500)
            case 7:
                state.burstEnd = time + .random(in: 0.5...3, using: &state.random)
                return .status(503)
            case 8: return .shiftedRange
            case 9: return .shortLength
            default: return .slow(bytesPerSecond: .random(in: 16_384...131_072, using: &state.random))
            }
        }
    }
}
