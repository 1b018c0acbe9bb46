import HTTPSemantics
import Primitives

/// A response of the origin, judged once.
struct OriginAnswer: Sendable {
    var response: OriginResponse
    /// The action that it allows.
    var action: ResponseAction
    /// The range of the request, if the answer is about missing bytes; `nil` for the whole representation.
    var range: RangeSpec?
    /// How much the response is wanted, if its request was sent for another reader than the one that uses it.
    var interest: RequestInterest?

    /// Where its body belongs in the representation; `nil` if it brings no bytes of one.
    var placement: BodyPlacement? {
        switch action {
        case .fill(let placement), .newGeneration(let placement, _): placement
        default: nil
        }
    }
}

/// The response with another representation that came for a hole, until the next read of the same download takes it.
///
/// No reader of the old representation may get a byte of it, so the fetch ends there. The download reads again, and
/// would ask for the whole that is here already. Its lock is a leaf.
final class Successor: Sendable {
    private struct State {
        var left: OriginAnswer?
        /// Whether the download reads no more.
        var isOver = false
    }

    private let state = Mutex(State())

    /// Leaves an answer, whose body nothing else reads.
    func leave(_ answer: OriginAnswer) {
        let unwanted = state.withLock { state -> OriginAnswer? in
            if state.isOver { return answer }
            defer { state.left = answer }
            return state.left
        }
        unwanted?.response.body.cancel()
    }

    /// The answer, which belongs to the caller from then on; `nil` if there is none.
    func take() -> OriginAnswer? {
        state.withLock { state -> OriginAnswer? in
            defer { state.left = nil }
            return state.left
        }
    }

    /// The download reads no more: cancels an answer that was not taken, and those that come late.
    func end() {
        let left = state.withLock { state -> OriginAnswer? in
            state.isOver = true
            defer { state.left = nil }
            return state.left
        }
        left?.response.body.cancel()
    }
}
