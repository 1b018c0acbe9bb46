import Locks

/// What is left of a response whose bytes found no room, from `start` on.
struct Remainder: Sendable {
    let response: OriginResponse
    let start: Int64
    /// Where the body ends as declared.
    let end: Int64?
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

extension LiveGeneration {
    /// Leaves `remainder` to the reader that comes to it first; false where that reader's own request does as well, or
    /// there is no reader.
    func handOver(_ remainder: Remainder, of id: FetchSchedule.FetchID) -> Bool {
        state.withLock { state in
            guard !state.response.isJoinable(generationPolicy), state.remainder == nil,
                state.handles[id]?.isCancelled == false, !state.machine.readers.isEmpty
            else { return false }
            state.handles[id]?.body = nil
            state.handles[id]?.isHandedOver = true
            state.remainder = remainder
            return true
        }
    }

    /// The rest of a response that brings the byte at `position`, for one reader.
    func takeRemainder(at position: Int64) -> Remainder? {
        state.withLock { state in
            guard let remainder = state.remainder, remainder.start <= position else { return nil }
            state.remainder = nil
            return remainder
        }
    }

    /// No reader comes for it any more.
    func dropRemainder() {
        state.withLock { state in
            defer { state.remainder = nil }
            return state.remainder
        }?.response.body.cancel()
    }
}
