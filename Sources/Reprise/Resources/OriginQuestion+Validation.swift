import HTTPSemantics

/// Asks whether a stored response is current (RFC 9111 §4.3).
extension OriginQuestion {
    /// The result of validating a stored response.
    enum Validation: Sendable {
        case confirmed(Confirmation)
        /// The response begins a generation, or must not be stored.
        case replaced(OriginAnswer)
        /// The stored response is no longer current, and the new one cannot replace it.
        case gone
    }

    /// Asks whether `generation` is current, with the fields of the reader's request.
    func validate(
        _ generation: Generation, because reason: CacheStatus.ForwardReason
    ) async throws -> Validation {
        let canServeStale = generation.mayServeStale(instead: RepriseError(.originTimedOut, ""))
        do {
            guard canServeStale else { return try await retrying { try await ask(about: generation, because: reason) } }
            let host = wanted.origin.url.authority
            guard mustAsk || engine.silentHosts.claimsTry(of: host) else {
                throw RepriseError(.originTimedOut, "The host let another request time out a short time ago.")
            }
            // No retries if a stale response can be served instead.
            do { return try await ask(about: generation, because: reason) } catch is CancellationError {
                // The next one may try.
                engine.silentHosts.noteAnswer(from: host)
                throw CancellationError()
            }
        } catch let error as RepriseError where generation.mayServeStale(instead: error) {
            engine.reporter.tell(.servedStale(resource.key, reason: error.explanation))
            return .confirmed(Confirmation(reason: reason, status: error.refusal?.head.status.code))
        }
    }

    /// Whether the caller wants an answer of the origin even if its host did not answer a short time ago.
    private var mustAsk: Bool {
        wanted.isValidating || wanted.directives.noCache || wanted.origin.demand == .download
    }

    private func ask(
        about generation: Generation, because reason: CacheStatus.ForwardReason
    ) async throws -> Validation {
        try await ask(about: generation, range: askedRange(about: generation), because: reason)
    }

    private func ask(
        about generation: Generation, range: RangeSpec?, because reason: CacheStatus.ForwardReason
    ) async throws -> Validation {
        let identity = generation.record.identity
        let hasCondition = identity.validators.etag != nil || identity.validators.lastModified != nil
        let request = engine.impersonal(wanted.origin, stored: generation.record.fields)
        // The stored response could be used without revalidation if the request didn't depend on the end of the file.
        let isAboutEnd =
            !wanted.isValidating && identity.completeLength != nil && generation.mustAsk(about: wanted.range)
            && generation.reuse(for: wanted.directives, in: wanted.play) == .serve
        var asking = request.asking(for: range, unless: identity.validators, interest: wanted.interest)
        asking.context.canServeStale = generation.mayServeStale(instead: RepriseError(.originTimedOut, ""))
        var response = try await engine.origin.send(asking)
        if range != nil, response.head.isPartOfPlaylist {
            response.body.cancel()
            return .gone
        }
        var action = HTTPSemantics.validate(
            FetchRequest(range: range, sentCondition: hasCondition, isForFile: wanted.isForFile), against: identity,
            policy: generationPolicy, response: response.head,
            finalHost: response.head.status == .notModified ? nil : response.url.authority,
            storage: engine.storage(for: request, directives: wanted.directives))
        let replacement = Replacement(generation: generation)
        action = try await replacement.judge(&response, action)
        if range != nil, case .generationChanged = action, response.head.status == .rangeNotSatisfiable,
            generation.isStored(nil), await replacement.isKept
        {
            // A 416 does not show whether the origin has another version of the kept file; the whole file does.
            response.body.cancel()
            return try await ask(about: generation, range: nil, because: reason)
        }
        switch action {
        case .reject where range != nil && response.head.status == .partialContent:
            response.body.cancel()
            return try await ask(about: generation, range: nil, because: reason)
        case .notModified, .fill:
            response.body.cancel()
            if case .fill(let placement) = action { generation.learn(placement) }
            generation.changeTarget { $0.found(response) }
            generation.freshen(
                response.head.headerFields, from: response.url, requestTime: response.requestTime, by: request)
            return .confirmed(Confirmation(reason: reason, status: response.head.status.code))
        case .newGeneration(let placement, .noStrongValidator)
        where isAboutEnd && placement.completeLength == identity.completeLength:
            // The end of the file is unchanged.
            response.body.cancel()
            return .confirmed(Confirmation(reason: reason, status: response.head.status.code))
        case .retryWithoutRange where isAboutEnd:
            throw try await refusal(
                .unsatisfiable(completeLength: identity.completeLength), of: response)
        case .passThrough(let nothing) where nothing.isOfNoVersion && generation.record.isWorthMore(than: nothing):
            // A captive portal or a failing origin: keep serving the stored response.
            response.body.cancel()
            engine.reporter.tell(
                .servedStale(resource.key, reason: "The origin sent a page, an error or nothing in its place."))
            return .confirmed(Confirmation(reason: reason, status: response.head.status.code))
        case .generationChanged where response.head.status == .notModified && !generation.record.isExpired:
            // The stored response is current, but the 304 has metadata of another version. The stored response may be
            // reused, but must not be updated (RFC 9111 §4.3.3, §4.3.4). That doesn't apply if a response has already
            // contradicted it, because If-Modified-Since also yields 304 for an older file (RFC 9110 §13.1.3).
            return .confirmed(Confirmation(reason: reason, status: response.head.status.code))
        case .newGeneration, .passThrough:
            return .replaced(OriginAnswer(response: response, action: action))
        case .generationChanged, .retryWithoutRange:
            response.body.cancel()
            return .gone
        default: throw try await refusal(action, of: response)
        }
    }
}

extension GenerationRecord {
    /// Whether to serve the stored response instead of a response that says nothing about it.
    ///
    /// Not if the stored response was invalidated. A status other than 200 and 206 is a valid answer for text, so only
    /// media is served in place of it.
    fileprivate func isWorthMore(than reason: PassThroughReason) -> Bool {
        !isInvalidated && (reason != .unexpectedStatus || isMedia)
    }
}
