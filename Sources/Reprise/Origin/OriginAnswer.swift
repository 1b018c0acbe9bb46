import HTTPSemantics
import Primitives

/// A response of the origin and the action that it allows.
struct OriginAnswer: Sendable {
    let response: OriginResponse
    let action: ResponseAction
    /// The range of the request, if the answer is about missing bytes; `nil` for the whole representation.
    var range: RangeSpec?
}

/// What is left of a response whose bytes found no room, from `start` on.
struct Remainder: Sendable {
    let response: OriginResponse
    let start: Int64
    /// Where the body ends as declared.
    let end: Int64?
    /// How far behind `start` a reader may be that goes on with it.
    var reach = Int64.max
}

/// A body of which the first pieces were taken already, and are given once more.
final class ResumedBody: OriginBody {
    private let taken: Mutex<[any ByteChunk]>
    private let rest: any OriginBody

    init(_ taken: [any ByteChunk], before rest: any OriginBody) {
        self.taken = Mutex(taken)
        self.rest = rest
    }

    func next() async throws -> (any ByteChunk)? {
        if let chunk = taken.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return chunk }
        return try await rest.next()
    }

    func cancel() { rest.cancel() }
}

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
