import HTTPSemantics
import HTTPTypes
import Locks

/// Sends requests to the origin and interprets the responses.
extension LiveResource {
    /// A response and the action that it allows.
    struct Exchange: Sendable {
        let response: OriginResponse
        let requestTime: Int64
        let action: ResponseAction
    }

    /// The result of validating a stored response.
    enum Validation {
        case confirmed(Confirmation)
        /// The response begins a generation, or must not be stored.
        case replaced(Exchange)
        /// The stored response is no longer current, and the new one cannot replace it.
        case gone
    }

    /// Whether the reader expects media: it wants a part, or the URL has a media extension; neither fits a web page.
    private func expectsMedia(_ wanted: ReadRequest) -> Bool {
        wanted.range.map { $0 != .from(0) } ?? false || wanted.origin.url.namesMedia
    }

    /// Sends the reader's request to the origin, and retries when that can help.
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
                case .passThrough(.unexpectedStatus) where CachedRefusal.isWorthKeeping(response.head):
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

    /// In a shared cache, requests the hole of a fresh response that has no validator; an origin that answers with the
    /// whole representation settles it.
    ///
    /// Without a strong validator a part cannot be joined (RFC 9111 §3.4); returns `nil` then, and the whole has to be
    /// requested.
    func completion(of generation: LiveGeneration, _ wanted: ReadRequest) async throws -> Exchange? {
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

    /// Asks whether `generation` is current (RFC 9111 §4.3), with the fields of the reader's request.
    func validate(_ generation: LiveGeneration, _ wanted: ReadRequest, _ reason: CacheStatus.ForwardReason) async throws
        -> Validation
    {
        do {
            // No retries if a stale response can be served instead.
            if generation.mayServeStale(instead: RepriseError(.originUnreachable, "")) {
                return try await ask(generation, wanted, reason)
            }
            return try await retrying { try await ask(generation, wanted, reason) }
        } catch let error as RepriseError where generation.mayServeStale(instead: error) {
            reporter.tell(.servedStale(key, reason: error.description))
            return .confirmed(Confirmation(reason: reason, status: error.refusal?.head.status.code))
        }
    }

    private func ask(_ generation: LiveGeneration, _ wanted: ReadRequest, _ reason: CacheStatus.ForwardReason)
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
            // A captive portal, or a failing origin: the stored response is worth more.
            response.body.cancel()
            reporter.tell(.servedStale(key, reason: "The origin answered with HTML or nothing in place of media."))
            return .confirmed(Confirmation(reason: reason, status: response.head.status.code))
        case .newGeneration, .passThrough:
            return .replaced(Exchange(response: response, requestTime: time, action: action))
        case .generationChanged, .retryWithoutRange:
            response.body.cancel()
            return .gone
        default: throw try await refusal(action, response, time, wanted)
        }
    }

    /// Validates in the background (RFC 5861 §3).
    func revalidate(_ generation: LiveGeneration, _ wanted: ReadRequest) {
        Task(executorPreference: DiskExecutor.shared) {
            defer { self.state.withLock { $0.isRevalidating = false } }
            // The reader that triggered this may have left, so validate the whole and not its part.
            var request = ReadRequest(range: nil, origin: wanted.origin)
            request.origin.demand = .preload
            do {
                switch try await self.validate(generation, request, .stale) {
                case .confirmed: break
                case .replaced(let exchange): try await self.replaceQuietly(generation, exchange, request)
                case .gone: self.forget(generation)
                }
            } catch {
                self.reporter.tell(.servedStale(self.key, reason: "\(error)"))
            }
        }
    }

    /// Fetches a small new representation at once; leaves a large one to its next reader.
    private func replaceQuietly(_ generation: LiveGeneration, _ exchange: Exchange, _ request: ReadRequest) async throws
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

    /// Size limit, in bytes, for representations fetched by a background validation.
    private static let quietlyFetched: Int64 = 1 << 20

    /// Runs `body`, and again after a delay if that can help.
    private func retrying<T>(_ body: () async throws -> T) async throws -> T {
        var budget = RetryBudget(engine.retryPolicy)
        while true {
            do {
                return try await body()
            } catch let error as RepriseError {
                guard let delay = budget.delay(after: error, bytes: 0) else { throw error }
                engine.reporter.tell(.fetchRetried(key, after: delay, error: error))
                try await engine.configuration.clock.sleep(delay)
            }
        }
    }

    /// The error for a response without media; kept for further requests if allowed.
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
                let previous = if case .answered(let answer) = state.phase { answer } else { nil as CachedRefusal? }
                let answer = CachedRefusal(
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

    /// Sends HEAD; the response may freshen or invalidate the stored one (RFC 9111 §4.3.5).
    func head(_ request: OriginRequest) async throws -> HTTPResponse {
        let (response, time) = try await engine.send(request, range: nil)
        response.body.cancel()
        if response.head.status == .ok, let generation = liveGeneration,
            generation.mayBeChanged(by: response.head.headerFields, for: request)
        {
            let fields = response.head.headerFields
            switch generation.record.identity.verdict(ofHead: fields, isShared: policy.isShared) {
            case .freshens:
                // A response without a body does not vouch for a Content-Type.
                var fields = fields
                fields[.contentType] = nil
                generation.freshen(fields, requestTime: time, by: request)
            case .contradicts: generation.invalidate()
            case .tellsNothing: break
            }
        }
        return response.head
    }

    /// Forwards a request with another method.
    func forward(_ request: OriginRequest) async throws -> OriginResponse {
        if policy.isOffline {
            throw RepriseError(
                .notStored, "The origin must not be asked, so \(request.method.rawValue) cannot be sent.")
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

    /// Continues a read whose store failed: a response for exactly the remaining part, which must be of the same
    /// generation.
    func resumeDirect(
        _ generation: LiveGeneration, from: Int64, to: Int64?, request: OriginRequest
    ) async throws -> DirectStream {
        if let remainder = generation.takeRemainder(at: from) {
            return DirectStream(
                remainder.response, start: remainder.start, from: from, to: to, expectedEnd: remainder.end,
                reporter: reporter)
        }
        let record = generation.record
        let spec: RangeSpec = to.map { .bounded(from..<$0) } ?? .from(from)
        let ifRange = record.identity.validators.ifRangeValue
        let (response, _) = try await engine.send(request, range: spec, ifRange: ifRange)
        let sent = FetchRequest(range: spec, sentIfRange: ifRange != nil)
        // Nothing of it is stored, so rules against storing don't end the read. A response that cannot be shown to
        // continue the representation does: a reader never gets bytes of two.
        let action = HTTPSemantics.validate(
            sent, against: record.identity, policy: engine.configuration.generationPolicy, response: response.head,
            finalHost: response.url.authority, storage: StoragePolicy(honorsNoStore: false))
        let placement: BodyPlacement
        switch action {
        case .fill(let found): placement = found
        case .refusal: throw Self.refused(try await OriginRefusal.collect(response), request.url)
        case .newGeneration(_, let reason), .generationChanged(let reason):
            // The next read asks for the current representation.
            generation.replace(reason: String(describing: reason))
            fallthrough
        default:
            response.body.cancel()
            throw FetchSchedule.Freeze.replaced.error(at: from)
        }
        return DirectStream(
            response, start: placement.start, from: from, to: to, expectedEnd: placement.end, reporter: reporter)
    }
}
