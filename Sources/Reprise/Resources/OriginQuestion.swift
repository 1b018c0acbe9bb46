import HTTPSemantics
import HTTPTypes

/// One question to the origin on behalf of a read: asks, judges the response, and retries where that can help.
struct OriginQuestion: Sendable {
    let resource: LiveResource
    let wanted: ReadRequest

    var engine: Engine { resource.engine }
    var generationPolicy: GenerationPolicy { engine.configuration.generationPolicy }

    /// Whether the reader expects media: it wants a part, or the URL has a media extension; neither fits a web page.
    private var expectsMedia: Bool {
        wanted.range.map { $0 != .from(0) } ?? false || wanted.origin.url.namesMedia
    }

    /// Longest time that a player waits for bytes before those that it wants, on a host that is known to splice.
    private static let patienceForWhole = Duration.seconds(5)

    /// The range to request when validating or replacing `generation`.
    func askedRange(about generation: Generation) -> RangeSpec? {
        let record = generation.record
        let isPlaylist = record.role?.kind == .playlist || MediaType(record.fields[.contentType])?.isPlaylist == true
        return isPlaylist || wanted.isForPlaylist ? nil : wanted.range
    }

    /// The range to ask for.
    ///
    /// What the reader wants; of a host that is known to splice the whole file, because no other response would bring
    /// the rest. Only what follows if the reader would wait too long for it.
    private var askedRange: RangeSpec? {
        if wanted.isForPlaylist { return nil }
        guard wanted.origin.demand == .playing, engine.splicing.contains(wanted.origin.url) else { return wanted.range }
        let start: Int64
        switch wanted.range {
        case .bounded(let range): start = range.lowerBound
        case .from(let position): start = position
        case .suffix, nil: return wanted.range
        }
        let reach = engine.timings.bytes(in: Self.patienceForWhole, from: wanted.origin.url.authority)
        return .from(start <= reach ? 0 : start)
    }

    /// Sends the reader's request to the origin, and retries when that can help.
    ///
    /// The response would replace `replaced`, if that is not `nil`. With `isBypass`, the response is not stored.
    func representation(
        replacing replaced: Generation? = nil, isBypass: Bool = false
    ) async throws -> OriginAnswer {
        let asked = isBypass && !wanted.isForPlaylist ? wanted.range : askedRange
        var forms = RangeForms(asked, mayWiden: asked != wanted.range || wanted.origin.demand < .playing)
        let mayBeEmpty = replaced == nil && wanted.content == .media
        return try await retrying {
            while true {
                let range = forms.current
                var response = try await engine.origin.send(
                    wanted.origin.asking(for: range, interest: wanted.interest))
                if range != nil, response.head.isPartOfPlaylist {
                    response.body.cancel()
                    forms = RangeForms(only: nil)
                    continue
                }
                var action = judge(response, to: range, mayBeEmpty: mayBeEmpty)
                if let replaced {
                    let judged = judge(response, to: range, replacing: replaced.record.identity)
                    if case .passThrough(let reason) = judged, reason.isOfNoVersion { action = judged }
                    action = try await Replacement(generation: replaced).judge(&response, action)
                } else {
                    action = try await FirstBytes(wanted: wanted, planner: engine.configuration.streamPlanner)
                        .judge(&response, action)
                }
                switch action {
                case .fill(let placement):
                    return OriginAnswer(response: response, action: .newGeneration(placement, .noGeneration))
                case .passThrough(.unexpectedStatus) where CachedRefusal.isWorthKeeping(response.head):
                    throw try await refusal(.refusal, of: response)
                case .passThrough
                where response.head.status == .partialContent && range == asked && asked != wanted.range:
                    // It would be passed on as it came, so it has to be the part that the reader wants.
                    response.body.cancel()
                    forms = RangeForms(only: wanted.range)
                case _ where action.isFaultOfForm(status: response.head.status.code) && forms.advance():
                    response.body.cancel()
                case .newGeneration, .passThrough:
                    return OriginAnswer(response: response, action: action)
                case .reject(let reason) where isPassedOn(response.head, range, despite: reason):
                    return OriginAnswer(
                        response: response, action: .passThrough(.contradictoryRange)
                    )
                case .retryWithoutRange where range != nil, .reject where range == .from(0):
                    response.body.cancel()
                    forms = RangeForms(only: nil)
                default: throw try await refusal(action, of: response)
                }
            }
        }
    }

    /// Whether to pass on a part with incorrect length or range fields if the player requested this exact range.
    ///
    /// The player may know how to handle it, as it would without a cache.
    private func isPassedOn(_ head: HTTPResponse, _ range: RangeSpec?, despite reason: RejectionReason) -> Bool {
        let isOfPlayer = wanted.origin.demand == .playing && !wanted.needsStore && range == wanted.range
        guard isOfPlayer, range != .from(0), head.headerFields[.contentLength].flatMap(contentLength) != nil else {
            return false
        }
        return switch reason {
        case .contentLength, .invalidContentRange, .multipart: true
        case .unrequestedPartialContent: head.headerFields[.contentRange] == nil
        default: false
        }
    }

    /// In a shared cache, requests the hole of a fresh response that has no validator; an origin that answers with the
    /// whole representation settles it.
    ///
    /// Without a strong validator a part cannot be joined (RFC 9111 §3.4); returns `nil` then, and the whole has to be
    /// requested.
    func completion(of generation: Generation) async throws -> OriginAnswer? {
        guard resource.policy.isShared, !generation.isFrozen, generation.reuse(for: wanted.directives) == .serve,
            !resource.needsWhole, let hole = generation.hole(in: wanted.range)
        else { return nil }
        let response = try await engine.origin.send(wanted.origin.asking(for: hole, interest: wanted.interest))
        let action = judge(response, to: hole)
        if response.head.status == .ok, case .newGeneration = action {
            return OriginAnswer(response: response, action: action)
        }
        response.body.cancel()
        resource.holeStayed()
        return nil
    }

    /// The action for a response if there is no generation to continue, or if it would replace `replaced`.
    private func judge(
        _ response: OriginResponse, to range: RangeSpec?, mayBeEmpty: Bool = false,
        replacing replaced: GenerationIdentity? = nil
    ) -> ResponseAction {
        HTTPSemantics.validate(
            FetchRequest(
                range: range, expectsMedia: expectsMedia, mayBeEmpty: mayBeEmpty, isForFile: wanted.isForFile),
            against: replaced, policy: generationPolicy, response: response.head,
            storage: engine.storage(for: wanted.origin, directives: wanted.directives))
    }

    /// Runs `body`, and again after a delay if that can help.
    func retrying<T>(_ body: () async throws -> T) async throws -> T {
        let clock = engine.clock
        var budget = RetryBudget(engine.retryPolicy, patience: wanted.origin.context.patience, from: clock.elapsed())
        return try await budget.retrying(on: clock, body) { delay, error in
            engine.reporter.tell(.fetchRetried(resource.key, after: delay, error: error))
            try await clock.sleep(delay)
        }
    }

    /// The error for a response without media; kept for further requests if allowed.
    func refusal(
        _ action: ResponseAction, of response: OriginResponse
    ) async throws -> RepriseError {
        switch action {
        case .refusal:
            let refusal = try await OriginRefusal.collect(
                response, of: wanted.origin.url.authority, engine.reporter)
            let storage = engine.storage(for: wanted.origin, directives: wanted.directives)
            resource.refused { previous, moment in
                CachedRefusal(
                    refusal, to: wanted.origin, after: previous, requestTime: response.requestTime, at: moment,
                    storage: storage, policy: resource.policy)
            }
            return Self.refused(refusal, from: wanted.origin.url)
        case .unsatisfiable(let length):
            let refusal = try await OriginRefusal.collect(
                response, of: wanted.origin.url.authority, engine.reporter)
            return RepriseError(
                .rangeNotSatisfiable, "The range lies outside the representation.", range: length.map { 0..<$0 },
                refusal: refusal)
        default:
            response.body.cancel()
            return .unusable(action)
        }
    }

    static func refused(_ refusal: OriginRefusal, from url: ResourceURL) -> RepriseError {
        RepriseError(
            .originRefused, "The origin answered \(refusal.head.status.code) for \(url.redacted).", refusal: refusal)
    }
}

extension HTTPResponse {
    /// Whether this is a part of a playlist, which must be fetched whole.
    var isPartOfPlaylist: Bool {
        status == .partialContent && MediaType(headerFields[.contentType])?.isPlaylist == true
    }
}
