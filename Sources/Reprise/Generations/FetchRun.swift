import HTTPSemantics
import HTTPTypes

/// A piece of a fetch's body, at its place.
struct Arrival: Sendable {
    let chunk: any ByteChunk
    let range: Range<Int64>
    /// The response that brings it.
    let source: OriginAnswer
}

/// Runs one fetch: sends, checks, writes, publishes, retries.
struct FetchRun: Sendable {
    let id: FetchSchedule.FetchID
    let generation: Generation
    let request: OriginRequest
    /// How much its bytes are wanted.
    let interest: RequestInterest

    var engine: Engine { generation.engine }

    /// How a try ended, other than by an error.
    private enum Outcome {
        case over(reachedEnd: Bool = false, RepriseError? = nil)
        /// The fetch has ended already, because no reader waited for it when it failed.
        case ended(RepriseError?)
    }

    /// Runs to the end of the fetch's range, beginning with `answer` if the first one is here already.
    func run(_ answer: OriginAnswer?) async {
        let clock = engine.clock
        var budget = RetryBudget(engine.retryPolicy, patience: request.context.patience, from: clock.elapsed())
        if answer == nil, let refusal = generation.ask({ $0.origin.recentRefusal(of: request, at: clock.elapsed()) }) {
            generation.end(id, reachedEnd: false, failure: refusal)
            return
        }
        let range = generation.ask { $0.rest(of: id) } ?? 0..<0
        engine.reporter.tell(.fetchStarted(generation.key, range: range))
        var (answer, writer) = (answer, ChunkWriter(into: generation.bytes, for: id))
        var (reached, isStuck) = (range.lowerBound, false)
        do {
            // Bytes that arrive a second time are not progress.
            let outcome = try await budget.retrying(on: clock, bytes: { max(0, reached - range.lowerBound) }) {
                () -> Outcome in
                do {
                    while true {
                        let outcome = try await attempt(answer, isStuck: isStuck, with: &writer)
                        await finish(&writer)
                        if let outcome { return outcome }
                        await waitForDemand()
                        answer = nil
                    }
                } catch {
                    await finish(&writer)
                    let error = error as? RepriseError
                    if let isCancelled = generation.handle({ $0.endUnlessAwaited(id) }) {
                        return .ended(isCancelled ? nil : error)
                    }
                    let before = reached
                    reached = position ?? range.lowerBound
                    isStuck = error?.code == .originBodyTruncated && reached == before
                    // Don't resume if no other response can be joined to this one.
                    guard let error, !Task.isCancelled, generation.isJoinable else {
                        return .over(isCancelled ? nil : error)
                    }
                    throw error
                }
            } pause: { delay, error in
                answer = nil
                generation.handle { $0.detach(id, at: generation.awake) }
                engine.reporter.tell(.fetchRetried(generation.key, after: delay, error: error))
                await interest.sleepWhileWanted(delay, on: clock)
            }
            switch outcome {
            case .over(let reachedEnd, let failure):
                if reachedEnd, request.demand != .download, let position {
                    await generation.judgePace(endingAt: position)
                }
                end(writer, reachedEnd: reachedEnd, failure: failure)
            case .ended(let failure): report(writer, failure: failure)
            }
        } catch {
            end(writer, reachedEnd: false, failure: isCancelled ? nil : error as? RepriseError)
        }
    }

    private func end(_ writer: ChunkWriter, reachedEnd: Bool, failure: RepriseError?) {
        if let failure {
            let now = generation.elapsed
            generation.handle { state in
                state.origin.fetchFailed(failure, sending: state.askedRequest(of: id) ?? request, at: now)
            }
        }
        generation.end(id, reachedEnd: reachedEnd, failure: failure)
        report(writer, failure: failure)
    }

    private func report(_ writer: ChunkWriter, failure: RepriseError?) {
        generation.store.recorder.note(generation, bytes: 0)
        engine.reporter.tell(.fetchEnded(generation.key, bytes: writer.received, error: failure))
    }

    /// Runs one attempt; `nil` if the connection was given back, because no reader wanted more for long.
    ///
    /// `isStuck` means that repeating the same range request made no progress, so another form is tried.
    private func attempt(
        _ ready: OriginAnswer?, isStuck: Bool, with writer: inout ChunkWriter
    ) async throws -> Outcome? {
        if let ready, let placement = ready.placement { return try await drain(ready, at: placement, with: &writer) }
        await engine.precedence.waitForTurn(interest, at: generation.url.authority)
        noteProgress()
        guard claim(), let range = generation.ask({ $0.rest(of: id) }) else { return .over() }
        let record = generation.record
        var request = engine.impersonal(
            generation.handle({ $0.chooseRequest(for: id) }) ?? request, stored: record.fields)
        request.context.errand?.hole = record.completeLength.map { range.lowerBound..<min(range.upperBound, $0) }
        let forms =
            record.rangesSupported == false
            ? RangeForms(only: nil)
            : RangeForms(
                range, within: generation.ask { $0.schedule.bound(of: id) }, completeLength: record.completeLength,
                needsOpenEnd: isStuck || engine.rangeHabits.has(.needsOpenEnds, at: generation.url.authority))
        // Until range support is known, omit If-Range, so that a 200 can only mean that ranges are unsupported.
        let ifRange = record.rangesSupported == true ? record.identity.validators.ifRangeValue : nil
        let question = Generation.Question(
            request: request, forms: forms, ifRange: ifRange, storage: engine.storage(for: request),
            interest: interest, fetch: id)
        var answer = try await generation.answer(to: question)
        // If the fetch was canceled during the request, store only the bytes that have already arrived.
        let body = answer.response.body
        if !generation.handle({ $0.attach(body, to: id, at: generation.awake) }) { body.cancel() }
        if case .fill(var placement) = answer.action {
            // The origin failed for every form of the range.
            if question.range != nil, answer.range == nil { placement.rangesSupported = false }
            generation.learn(placement)
            // The newest response's fields stand for all parts that were joined (RFC 9111 §3.4).
            answer.response.dropForeignCookies(of: record.finalURL ?? record.url)
            generation.freshen(
                answer.response.head.headerFields, requestTime: answer.response.requestTime, by: request)
            generation.handle { $0.origin.fetchSucceeded() }
            if placement.rangesSupported == false, placement.start < range.lowerBound {
                engine.reporter.remark(
                    "It sends whole files in place of the missing parts, so stored bytes are downloaded again.",
                    about: generation.key, at: generation.url.authority)
            }
            if placement.rangesSupported == true {
                generation.handle { $0.takeOver(id, isFirstProof: record.rangesSupported != true) }
            } else if placement.rangesSupported == false,
                !generation.handle({ $0.schedule.takeWhole(id, to: placement.end) })
            {
                body.cancel()
                return .over()
            }
            return try await drain(answer, at: placement, with: &writer)
        }
        return .over(try await generation.decline(answer, to: question, at: position ?? 0))
    }

    /// Pulls the body, writes it, publishes it; as fast as readers want it.
    private func drain(
        _ source: OriginAnswer, at placement: BodyPlacement, with writer: inout ChunkWriter
    ) async throws -> Outcome? {
        let body = source.response.body
        var cursor = BodyCursor(start: placement.start, end: placement.end)
        var reading = Duration.zero
        var isPaced = false
        var isGivenBack = false
        // Enforce the live share while a response of unknown length grows.
        let heldBytes = placement.end == nil ? max(1 << 20, generation.store.quota.limit / 64) : nil
        var nextHold = heldBytes.map { writer.received + $0 } ?? .max
        let (startBytes, authority) = (writer.received, generation.url.authority)
        let isImported = request.context.source != nil
        let hasArrived = source.response.onStored != nil
        defer {
            // An imported file says nothing about the network, and neither do bytes that have waited in the socket.
            if !isImported, !hasArrived, !isPaced {
                engine.timings.noteRate(bytes: writer.received - startBytes, in: reading, from: authority)
            }
        }
        while true {
            let isHeld = cursor.rest != 0 && !hasArrived
            let claim = isHeld ? await engine.pace.admit(interest, atMost: cursor.rest) : nil
            if await engine.precedence.giveWay(interest, at: authority) { noteProgress() }
            let before = engine.clock.elapsed()
            let next = try await engine.pace.settling(claim) { try await body.next() }
            guard let chunk = next else { break }
            reading += engine.clock.elapsed() - before
            isPaced = isPaced || claim != nil
            let range = try cursor.advance(by: chunk.count)
            if cursor.hasSurplus { body.cancel() }
            if !isImported { countFetched(chunk.count) }
            writer.received += Int64(chunk.count)
            if let heldBytes, writer.received >= nextHold {
                nextHold = writer.received + heldBytes
                await engine.holdLiveShare(after: generation)
            }
            switch try await store(Arrival(chunk: chunk, range: range, source: source), with: &writer) {
            case .finished where writer.isHandedOver: return .over()
            case .finished:
                if cursor.position < placement.end ?? .max { body.cancel() }
                _ = try? await body.next()
                await settle(source.response, placement.end == cursor.position, with: &writer)
                return .over()
            // After the connection was given back, the bytes that had already arrived are still stored.
            case .pause where !isGivenBack: isGivenBack = await waitForDemand() == .givenBack
            case .pause, .go: break
            }
        }
        guard !isCancelled else { return .over() }
        if isGivenBack { return nil }
        if let end = placement.end, cursor.isShort {
            throw RepriseError(
                .originBodyTruncated, "The origin ended the body after \(cursor.position) of \(end) bytes.",
                range: cursor.position..<end)
        }
        await settle(source.response, placement.end == cursor.position, with: &writer)
        return .over(reachedEnd: placement.end == nil || cursor.position == generation.record.completeLength)
    }

    func countFetched(_ count: Int) {
        engine.reporter.countFetched(count, from: generation.url.authority)
        request.context.tally?.arrived(count)
    }

    /// Lets the client release a body that it kept until all of it is stored and recorded.
    private func settle(_ response: OriginResponse, _ isComplete: Bool, with writer: inout ChunkWriter) async {
        guard let onStored = response.onStored, isComplete, await finish(&writer),
            await generation.store.recorder.flush()
        else { return }
        onStored()
    }

    /// Waits until readers want more, or the connection was given back.
    @discardableResult
    private func waitForDemand() async -> FetchHandle.Parking {
        while verdict(after: nil) == .pause {
            if await generation.parkFetch(id) == .givenBack { return .givenBack }
        }
        return .over
    }

    // MARK: - The generation's state

    /// The next byte that the fetch is to bring; `nil` when it is over.
    private var position: Int64? { generation.ask { $0.schedule.fetches[id]?.cursor } }

    private var isCancelled: Bool { generation.ask { $0.isCancelled(id) } }

    private func noteProgress() { generation.handle { $0.noteProgress(of: id, at: generation.awake) } }

    /// Whether the request should be sent now that its turn has come.
    private func claim() -> Bool {
        let distance = engine.timings.joinDistance(for: generation.url.authority)
        return generation.handle { $0.claim(id, joinDistance: distance, policy: generation.generationPolicy) }
    }

    /// Whether to go on after `count` more bytes are on disk; `nil` only asks.
    func verdict(after count: Int64?) -> FetchSchedule.Verdict {
        generation.handle { $0.advance(id, by: count, at: generation.awake) }
    }
}
