import HTTPSemantics
import Primitives

/// Pulls bytes that bypass the store for one reader: a response that is not stored, or a hole that cannot be filled.
///
/// One consumer. A hole is requested again after a failed connection, as a ``FetchRun`` does.
final class DirectRead: Sendable {
    private struct State {
        /// The body of the response; `nil` while there is none.
        var body: (any OriginBody)?
        /// The place of its next byte.
        var cursor: BodyCursor
        /// Position of the next byte that the reader gets; earlier bytes of the body are dropped.
        var position: Int64
        var budget: RetryBudget
        var isCancelled = false

        /// Drops the response, which brings nothing more.
        mutating func lose() { if body != nil { (body, position) = (nil, max(position, cursor.position)) } }
    }

    private let engine: Engine
    private let request: OriginRequest
    /// The generation with the hole; `nil` if the response is the only one.
    private let generation: Generation?
    private let start: Int64
    /// End of the wanted bytes; `nil` for the end of the body.
    private let end: Int64?
    /// There is one consumer; the lock is also taken by ``cancel()``.
    private let state: Mutex<State>

    /// The bytes from `start` to `end` of a body that begins and is declared to end as `placement` says.
    init(
        _ body: (any OriginBody)?, at placement: BodyPlacement, from start: Int64, to end: Int64?,
        of generation: Generation? = nil, request: OriginRequest, engine: Engine
    ) {
        (self.start, self.end, self.generation, self.request, self.engine) = (start, end, generation, request, engine)
        state = Mutex(
            State(
                body: body, cursor: BodyCursor(start: placement.start, end: placement.end), position: start,
                budget: RetryBudget(engine.retryPolicy)))
    }

    /// The hole of `generation` from `start` to `end`; returns when the origin has answered.
    convenience init(
        of generation: Generation, from start: Int64, to end: Int64?, request: OriginRequest
    ) async throws {
        self.init(
            nil, at: BodyPlacement(start: start), from: start, to: end, of: generation, request: request,
            engine: generation.engine)
        _ = try await retrying { try await body() }
    }

    /// The next bytes; `nil` after the last one.
    ///
    /// Throws `originBodyTruncated` if bytes are missing that were promised to the reader.
    func next() async throws -> (any ByteChunk)? { try await retrying { try await pull(try await body()) } }

    /// Ends the transfer.
    func cancel() {
        let body = state.withLock { state in
            state.isCancelled = true
            return state.body
        }
        body?.cancel()
    }

    // MARK: - Requests

    private func retrying<Value>(_ attempt: () async throws -> Value) async throws -> Value {
        // Nothing but this response brings its bytes.
        guard generation != nil else { return try await attempt() }
        var budget = state.withLock { $0.budget }
        defer { state.withLock { [budget] in $0.budget = budget } }
        return try await budget.retrying(on: engine.clock, bytes: { state.withLock { $0.position - start } }) {
            do { return try await attempt() } catch let error as RepriseError {
                state.withLock { $0.lose() }
                throw error
            }
        } pause: { delay, _ in
            try await engine.clock.sleep(delay)
        }
    }

    /// The body that brings the next byte, of a new request if there is none.
    private func body() async throws -> any OriginBody {
        let (known, position) = state.withLock { ($0.body, $0.position) }
        if let known { return known }
        guard let generation else { throw CancellationError() }
        let (body, placement) = try await Self.ask(generation, from: position, to: end, request: request)
        let isCancelled = state.withLock { state in
            (state.body, state.cursor) = (body, BodyCursor(start: placement.start, end: placement.end))
            return state.isCancelled
        }
        guard !isCancelled else {
            body.cancel()
            throw CancellationError()
        }
        return body
    }

    /// Requests exactly these bytes, or takes what is left of a response that brings them; they must be of the same
    /// generation.
    private static func ask(
        _ generation: Generation, from position: Int64, to end: Int64?, request: OriginRequest
    ) async throws -> (any OriginBody, BodyPlacement) {
        if let rest = generation.handle({ $0.takeRemainder(at: position) }), let placement = rest.placement {
            return (rest.response.body, placement)
        }
        let interest = RequestInterest(request.demand)
        await generation.engine.precedence.waitForTurn(interest, at: request.url.authority)
        // Nothing of it is stored, so rules against storing don't end the read. A response that cannot be shown to
        // continue the representation does: a reader never gets bytes of two.
        let question = Generation.Question(
            request: request, forms: RangeForms(only: end.map { .bounded(position..<$0) } ?? .from(position)),
            ifRange: generation.record.identity.validators.ifRangeValue, storage: StoragePolicy(honorsNoStore: false),
            interest: interest)
        let answer = try await generation.answer(to: question)
        if case .fill(let placement) = answer.action { return (answer.response.body, placement) }
        throw try await generation.decline(answer, to: question, at: position)
            ?? FetchSchedule.Freeze.replaced.error(at: position)
    }

    // MARK: - Bodies

    /// The next wanted bytes of `body`, when its turn has come.
    private func pull(_ body: any OriginBody) async throws -> (any ByteChunk)? {
        let (precedence, host) = (engine.precedence, request.url.authority)
        let interest = RequestInterest(request.demand)
        defer { withExtendedLifetime(interest) {} }
        let claim = await engine.pace.admit(interest)
        precedence.readerWaits(request.demand, at: host)
        defer { precedence.readerGoesOn(request.demand, at: host) }
        return try await engine.pace.settling(claim) { try await next(of: body, countedTo: host) }
    }

    private func next(of body: any OriginBody, countedTo host: String) async throws -> (any ByteChunk)? {
        while true {
            let before = state.withLock { $0.cursor }
            if let end, before.position >= end {
                body.cancel()
                return nil
            }
            guard let chunk = try await body.next() else {
                // A canceled body ends like a complete one.
                try Task.checkCancellation()
                guard !before.isShort, before.position >= end ?? 0 else {
                    throw RepriseError(
                        .originBodyTruncated, "The origin ended the body after \(before.position) bytes.")
                }
                return nil
            }
            engine.reporter.countFetched(chunk.count, from: host)
            var cursor = before
            let range = try cursor.advance(by: chunk.count)
            if cursor.hasSurplus { body.cancel() }
            let wanted = state.withLock { [cursor] state in
                defer { state.position = max(state.position, cursor.position) }
                state.cursor = cursor
                return range.clamped(to: state.position..<max(state.position, end ?? .max))
            }
            guard !wanted.isEmpty else { continue }
            if wanted.upperBound - wanted.lowerBound == chunk.count { return chunk }
            let (lower, upper) = (wanted.lowerBound - range.lowerBound, wanted.upperBound - range.lowerBound)
            return ChunkSlice(base: chunk, range: Int(lower)..<Int(upper))
        }
    }
}

/// A part of another chunk, without copying.
struct ChunkSlice: ByteChunk {
    let base: any ByteChunk
    let range: Range<Int>

    var count: Int { range.count }

    func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try base.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }
}

/// Tracks where the bytes of a body belong in the representation as they arrive.
///
/// Pure. A body may contain more bytes than its head declared; the surplus is dropped.
struct BodyCursor: Sendable {
    /// Offset of the next byte; never beyond ``end``.
    private(set) var position: Int64
    /// Offset after the last byte, as declared; `nil` if only the end of the body shows it.
    let end: Int64?
    /// Whether bytes arrived after the declared end.
    private(set) var hasSurplus = false

    init(start: Int64, end: Int64?) {
        position = start
        self.end = end
    }

    /// Whether declared bytes are missing.
    var isShort: Bool { position < end ?? 0 }

    /// Declared bytes that have not arrived; `nil` if no end is declared.
    var rest: Int64? { end.map { max($0 - position, 0) } }

    /// Advances over the next `count` bytes and returns their range; bytes beyond the declared end are not part of it.
    ///
    /// Throws `originMisbehaved` for a body of undeclared length that goes beyond 2^53.
    mutating func advance(by count: Int) throws(RepriseError) -> Range<Int64> {
        let start = position
        let room = (end ?? .largestPosition) - start
        if Int64(count) > room {
            guard end != nil else {
                throw RepriseError(.originMisbehaved, "The origin's body does not end: it has more than 2^53 bytes.")
            }
            hasSurplus = true
        }
        position += min(Int64(count), max(room, 0))
        return start..<position
    }
}
