import HTTPSemantics
import HTTPTypes
import Locks

/// Requests to the origin, and what their responses mean.
extension ResourceCore {
    /// A response and what it is good for.
    struct Exchange: Sendable {
        let response: OriginResponse
        let requestTime: Int64
        let action: ResponseAction
    }

    /// What asking about a stored response came to.
    enum Validation {
        case confirmed(Confirmation)
        /// The response begins a generation, or must not be stored.
        case replaced(Exchange)
        /// The stored one no longer holds, and the response has nothing to put in its place.
        case gone
    }

    /// A part of it, or of what is called like media, is never wanted of a page.
    private func expectsMedia(_ wanted: ReadRequest) -> Bool {
        wanted.range.map { $0 != .from(0) } ?? false || wanted.origin.url.namesMedia
    }

    /// Asks the origin as the reader asked us, and retries what a retry can help.
    func exchange(_ wanted: ReadRequest) async throws -> Exchange {
        var range = wanted.range
        return try await retrying {
            while true {
                let (response, time) = try await engine.send(
                    wanted.origin, range: range, interest: wanted.interest)
                let action = HTTPSemantics.validate(
                    FetchRequest(range: range, expectsMedia: expectsMedia(wanted)), against: nil,
                    policy: engine.configuration.generationPolicy,
                    response: response.head, storage: engine.storage(for: wanted.origin, wanted.directives))
                switch action {
                case .fill(let placement):
                    return Exchange(
                        response: response, requestTime: time, action: .newGeneration(placement, .noGeneration))
                case .passThrough(.unexpectedStatus) where StoredAnswer.isWorthKeeping(response.head):
                    throw try await refusal(.refusal, response, time, wanted)
                case .newGeneration, .passThrough:
                    return Exchange(response: response, requestTime: time, action: action)
                case .retryWithoutRange where range != nil:
                    response.body.cancel()
                    range = nil
                default: throw try await refusal(action, response, time, wanted)
                }
            }
        }
    }

    /// In a shared cache, asks for the gap of a fresh response that has no validator: an origin that answers with the whole
    /// is done.
    ///
    /// A part cannot be joined without a strong validator (RFC 9111 §3.4): then `nil`, and the whole is to be asked for.
    func completion(of generation: GenerationCore, _ wanted: ReadRequest) async throws -> Exchange? {
        guard policy.isShared, !generation.isFrozen, generation.reuse(for: wanted.directives) == .serve,
            !state.withLock({ $0.isGapFutile }), let gap = generation.gap(in: wanted.range)
        else { return nil }
        let (response, time) = try await engine.send(wanted.origin, range: gap, interest: wanted.interest)
        let action = HTTPSemantics.validate(
            FetchRequest(range: gap, expectsMedia: expectsMedia(wanted)), against: nil,
            policy: engine.configuration.generationPolicy, response: response.head,
            storage: engine.storage(for: wanted.origin, wanted.directives))
        if response.head.status == .ok, case .newGeneration = action {
            return Exchange(response: response, requestTime: time, action: action)
        }
        response.body.cancel()
        state.withLock { $0.isGapFutile = true }
        return nil
    }

    /// Asks whether `generation` is current (RFC 9111 §4.3), in the words of the reader's request.
    func validate(_ generation: GenerationCore, _ wanted: ReadRequest, _ reason: CacheStatus.ForwardReason) async throws
        -> Validation
    {
        do {
            // Where there is something to fall back on nobody waits for retries.
            if generation.mayServeStale(instead: RepriseError(.originUnreachable, "")) {
                return try await ask(generation, wanted, reason)
            }
            return try await retrying { try await ask(generation, wanted, reason) }
        } catch let error as RepriseError where generation.mayServeStale(instead: error) {
            journal.tell(.servedStale(key, reason: error.description))
            return .confirmed(Confirmation(reason: reason, status: error.refusal?.head.status.code))
        }
    }

    private func ask(_ generation: GenerationCore, _ wanted: ReadRequest, _ reason: CacheStatus.ForwardReason)
        async throws -> Validation
    {
        let identity = generation.record.identity
        let hasCondition = identity.validators.etag != nil || identity.validators.lastModified != nil
        let request = engine.impersonal(wanted.origin, generation.record.fields)
        let (response, time) = try await engine.send(
            request, range: wanted.range, condition: identity.validators, interest: wanted.interest)
        let action = HTTPSemantics.validate(
            FetchRequest(range: wanted.range, sentCondition: hasCondition), against: identity,
            policy: engine.configuration.generationPolicy, response: response.head,
            finalHost: response.head.status == .notModified ? nil : response.url.authority,
            storage: engine.storage(for: request, wanted.directives))
        switch action {
        case .notModified, .fill:
            response.body.cancel()
            generation.freshen(response.head.headerFields, requestTime: time, by: request)
            return .confirmed(Confirmation(reason: reason, status: response.head.status.code))
        case .passThrough(.unexpectedHTML), .passThrough(.emptyBody):
            // A captive portal, or an origin that fails: what is stored is worth more.
            response.body.cancel()
            journal.tell(.servedStale(key, reason: "The origin answered with HTML or nothing in place of media."))
            return .confirmed(Confirmation(reason: reason, status: response.head.status.code))
        case .newGeneration, .passThrough:
            return .replaced(Exchange(response: response, requestTime: time, action: action))
        case .generationChanged, .retryWithoutRange:
            response.body.cancel()
            return .gone
        default: throw try await refusal(action, response, time, wanted)
        }
    }

    /// Validates without anybody waiting (RFC 5861 §3).
    func revalidate(_ generation: GenerationCore, _ wanted: ReadRequest) {
        Task(executorPreference: DiskExecutor.shared) {
            defer { self.state.withLock { $0.isRevalidating = false } }
            // Whoever caused this may long be gone with its part: ask about the whole.
            var request = ReadRequest(range: nil, origin: wanted.origin)
            request.origin.demand = .preload
            do {
                switch try await self.validate(generation, request, .stale) {
                case .confirmed: break
                case .replaced(let exchange): try await self.replaceQuietly(generation, exchange, request)
                case .gone: self.forget(generation)
                }
            } catch {
                self.journal.tell(.servedStale(self.key, reason: "\(error)"))
            }
        }
    }

    /// Fetches a small new representation at once; a large one is left to its next reader.
    private func replaceQuietly(_ generation: GenerationCore, _ exchange: Exchange, _ request: ReadRequest) async throws
    {
        guard case .newGeneration(let placement, _) = exchange.action,
            let length = placement.completeLength, length <= Self.quietlyFetched
        else {
            exchange.response.body.cancel()
            generation.invalidate()
            return
        }
        guard case .read(let read) = try await adopt(exchange, request, replacing: generation) else { return }
        for try await _ in read {}
    }

    /// Largest representation that a validation in the background fetches, in bytes.
    private static let quietlyFetched: Int64 = 1 << 20

    /// Runs `body`, again after a delay where that can help.
    private func retrying<T>(_ body: () async throws -> T) async throws -> T {
        var budget = RetryBudget(engine.retryPolicy)
        while true {
            do {
                return try await body()
            } catch let error as RepriseError {
                guard let delay = budget.delay(after: error, bytes: 0) else { throw error }
                engine.journal.tell(.fetchRetried(key, after: delay, error: error))
                try await engine.configuration.clock.sleep(delay)
            }
        }
    }

    /// The error for a response without media; kept for the next requests where it may be.
    private func refusal(
        _ action: ResponseAction, _ response: OriginResponse, _ requestTime: Int64, _ wanted: ReadRequest
    )
        async throws -> RepriseError
    {
        switch action {
        case .refusal:
            let refusal = try await OriginRefusal.collect(response)
            let storage = engine.storage(for: wanted.origin, wanted.directives)
            let (date, elapsed) = (now, engine.configuration.clock.elapsed())
            state.withLock { state in
                let previous = if case .answered(let answer) = state.phase { answer } else { nil as StoredAnswer? }
                let answer = StoredAnswer(
                    refusal, to: wanted.origin, after: previous, requestTime: requestTime, now: date, elapsed: elapsed,
                    storage: storage, policy: policy)
                guard let answer else { return }
                switch state.phase {
                case .unknown, .unloaded, .bypass, .answered: state.phase = .answered(answer)
                case .known, .varies: break
                }
            }
            return Self.refused(refusal, wanted.origin.url)
        case .unsatisfiable(let length):
            let refusal = try await OriginRefusal.collect(response)
            return RepriseError(
                .rangeNotSatisfiable, "The range lies outside the representation.", range: length.map { 0..<$0 },
                refusal: refusal)
        default:
            response.body.cancel()
            return RepriseError(.originMisbehaved, "The origin's response cannot be used: \(action).")
        }
    }

    /// Asks with HEAD; what it tells about the stored response is kept (RFC 9111 §4.3.5).
    func head(_ request: OriginRequest) async throws -> HTTPResponse {
        let (response, time) = try await engine.send(request, range: nil)
        response.body.cancel()
        if response.head.status == .ok, let generation = liveGeneration,
            generation.mayBeChanged(by: response.head.headerFields, for: request)
        {
            let fields = response.head.headerFields
            switch generation.record.identity.verdict(ofHead: fields, isShared: policy.isShared) {
            case .freshens:
                // Nothing that has a body vouches for its type.
                var fields = fields
                fields[.contentType] = nil
                generation.freshen(fields, requestTime: time, by: request)
            case .contradicts: generation.invalidate()
            case .tellsNothing: break
            }
        }
        return response.head
    }

    /// Passes a request with another method on.
    func forward(_ request: OriginRequest) async throws -> OriginResponse {
        if policy.isOffline {
            throw RepriseError(
                .notStored, "The origin is not to be asked, so \(request.method.rawValue) cannot be sent.")
        }
        let (response, _) = try await engine.send(request, range: nil)
        let isSafe = [HTTPRequest.Method.options, .trace].contains(request.method)
        if !isSafe, 200..<400 ~= response.head.status.code {
            engine.invalidate(key)
            for name in [HTTPField.Name.location, .contentLocation] {
                guard let text = response.head.headerFields[name], let url = try? request.url.resolving(text),
                    url.authority == request.url.authority, url.scheme == request.url.scheme
                else { continue }
                engine.invalidate(engine.configuration.keyPolicy.key(for: url).inPartition(key.partition))
            }
        }
        return response
    }

    /// A response for exactly a part of a read whose store gave out; it must continue the same generation.
    func resumeDirect(
        _ generation: GenerationCore, from: Int64, to: Int64?, request: OriginRequest
    ) async throws -> DirectStream {
        if let remainder = generation.takeRemainder(at: from) {
            return DirectStream(
                remainder.response, start: remainder.start, from: from, to: to, expectedEnd: remainder.end,
                journal: journal)
        }
        let record = generation.record
        let spec: RangeSpec = to.map { .bounded(from..<$0) } ?? .from(from)
        let ifRange = record.identity.validators.ifRangeValue
        let (response, _) = try await engine.send(request, range: spec, ifRange: ifRange)
        let sent = FetchRequest(range: spec, sentIfRange: ifRange != nil)
        // Nothing of it is stored: what forbids storing is no reason to end the read. What cannot be shown to continue the
        // representation is: a reader never gets bytes of two.
        let action = HTTPSemantics.validate(
            sent, against: record.identity, policy: engine.configuration.generationPolicy, response: response.head,
            finalHost: response.url.authority, storage: StoragePolicy(honoursNoStore: false))
        let placement: BodyPlacement
        switch action {
        case .fill(let found): placement = found
        case .refusal: throw Self.refused(try await OriginRefusal.collect(response), request.url)
        case .newGeneration(_, let reason), .generationChanged(let reason):
            // The next read asks for what is current.
            generation.replace(reason: String(describing: reason))
            fallthrough
        default:
            response.body.cancel()
            throw GenerationMachine.Freeze.replaced.error(at: from)
        }
        return DirectStream(
            response, start: placement.start, from: from, to: to, expectedEnd: placement.end, journal: journal)
    }
}
