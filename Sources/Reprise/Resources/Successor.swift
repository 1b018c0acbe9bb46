import Primitives

/// The response with another representation that came for a hole, until the next read of the same download takes it.
///
/// No reader of the old representation may get a byte of it, so the fetch ends there. The download reads again, and
/// would ask for the whole that is here already. Its lock is a leaf.
final class Successor: Sendable {
    /// What was left.
    struct Left: Sendable {
        let judged: OriginAnswer
        /// How much the response is wanted, as the client that brings it knows.
        let interest: RequestInterest
    }

    private struct State {
        var left: Left?
        /// Whether the download reads no more.
        var isOver = false
    }

    private let state = Mutex(State())

    /// Leaves a response, whose body nothing else reads.
    func leave(_ judged: OriginAnswer, interest: RequestInterest) {
        let unwanted = state.withLock { state -> OriginAnswer? in
            if state.isOver { return judged }
            defer { state.left = Left(judged: judged, interest: interest) }
            return state.left?.judged
        }
        unwanted?.response.body.cancel()
    }

    /// The response, which belongs to the caller from then on; `nil` if there is none.
    func take() -> Left? {
        state.withLock { state -> Left? in
            defer { state.left = nil }
            return state.left
        }
    }

    /// The download reads no more: what was not taken is canceled, and what comes late.
    func end() {
        let left = state.withLock { state -> Left? in
            state.isOver = true
            defer { state.left = nil }
            return state.left
        }
        left?.judged.response.body.cancel()
    }
}
