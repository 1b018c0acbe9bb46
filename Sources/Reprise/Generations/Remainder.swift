import Primitives

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
