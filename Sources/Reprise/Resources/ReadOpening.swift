import HTTPSemantics

/// The beginning of one read: asks the machine what to do, waits, asks the origin, until there is a ``MediaRead``.
struct ReadOpening: Sendable {
    let resource: LiveResource
    let wanted: ReadRequest

    /// How many failures of other readers a reader waits for before it sends its own request, bypassing the store.
    private static let patience = 2

    private var engine: Engine { resource.engine }

    /// The outcome of a lookup that this read leads.
    enum Outcome: Sendable {
        case read(MediaRead)
        /// Look again.
        case again(Lookup.Found)
    }

    /// What this read has learned so far.
    private struct Progress {
        /// A generation that could not serve it.
        var unusable: Generation?
        /// A generation that was validated for it.
        var confirmed: (generation: Generation, how: Confirmation)?
        /// Number of lookups that failed for their leaders only.
        var failures = 0
        /// Whether even the same request failed for its leader only.
        var sharesNothing = false

        /// Notes what the lookup found that another reader led.
        mutating func note(_ found: Lookup.Found, isSame: Bool) {
            note(found)
            if case .failed = found {
                failures += 1
                sharesNothing = sharesNothing || isSame
            }
        }

        mutating func note(_ found: Lookup.Found) {
            if case .confirmed(let generation, let how) = found { confirmed = (generation, how) }
        }
    }

    func run() async throws -> MediaRead {
        var progress = Progress()
        while true {
            try Task.checkCancellation()
            // Assign the role first, because it may show that the stored response is a different segment.
            if let role = wanted.role { resource.liveGeneration(for: wanted.origin)?.assign(role) }
            let step = resource.step(
                for: wanted, unusable: progress.unusable, confirmed: progress.confirmed?.generation)
            if case .useAndRevalidate(let generation) = step { revalidate(generation) }
            switch step {
            case .moved: return try await resource.current().open(wanted)
            case .use(let generation), .useAndRevalidate(let generation):
                if let opened = try generation.openReader(wanted) {
                    generation.add(wanted.claims)
                    if wanted.isUse { generation.noteUse() }
                    let how = progress.confirmed.flatMap { $0.generation === generation ? $0.how : nil }
                    return MediaRead(
                        opened, how: how, generation: generation, resource: resource, wanted: wanted)
                }
                progress.unusable = generation
            case .lead(let lookup, let errand):
                switch try await lead(lookup, errand: errand) {
                case .read(let read): return read
                case .again(let found): progress.note(found)
                }
            case .follow(let lookup):
                // Readers that all send different requests must not wait for one another's failures.
                let isSame = lookup.asksTheSame(as: wanted.origin)
                if wanted.mayAsk(resource.policy),
                    progress.sharesNothing || progress.failures >= Self.patience && !isSame
                {
                    return try await bypass()
                }
                progress.note(try await follow(lookup), isSame: isSame)
            case .variant(let vary):
                return try await Variants(of: resource).resource(by: vary, for: wanted.origin).open(wanted)
            case .bypass: return try await bypass()
            case .refuse(let refusal): throw OriginQuestion.refused(refusal, from: wanted.origin.url)
            case .unavailable: throw RepriseError.notStored(wanted.origin.url, isOffline: resource.policy.isOffline)
            }
        }
    }

    /// Begins a read that bypasses the store.
    private func bypass() async throws -> MediaRead {
        let judged = try await OriginQuestion(resource: resource, wanted: wanted).representation(isBypass: true)
        // It may be stored now, so the next read stores it.
        if case .passThrough = judged.action {} else { resource.handle { $0.storingAllowed() } }
        return try MediaRead(judged, resource: resource, wanted: wanted)
    }

    /// Waits for a lookup that another reader leads.
    private func follow(_ lookup: Lookup) async throws -> Lookup.Found {
        let (demand, authority) = (wanted.origin.demand, wanted.origin.url.authority)
        engine.precedence.readerWaits(demand, at: authority)
        defer { engine.precedence.readerGoesOn(demand, at: authority) }
        return try await lookup.wait(wanted.origin)
    }

    /// Runs the lookup in a task of its own, because the leader may leave while followers wait.
    private func lead(_ lookup: Lookup, errand: LiveResource.Machine.Errand) async throws -> Outcome {
        var wanted = wanted
        wanted.interest = lookup.interest
        let (demand, authority) = (wanted.origin.demand, wanted.origin.url.authority)
        engine.precedence.readerWaits(demand, at: authority)
        defer { engine.precedence.readerGoesOn(demand, at: authority) }
        let opening = ReadOpening(resource: resource, wanted: wanted)
        let task = Task(priority: .userInitiated) { [resource] in
            do {
                let outcome = try await opening.find(errand)
                if case .again(let found) = outcome {
                    resource.finish(lookup, with: .success(found))
                } else {
                    resource.finish(lookup, with: .success(.changed))
                }
                return outcome
            } catch {
                resource.finish(lookup, with: (error as? RepriseError).map { .failure($0) } ?? .success(.changed))
                throw error
            }
        }
        // A leader that leaves does not cancel a request that was sent: the head determines what the resource is, and
        // bytes that have arrived are stored. A request without a connection is withdrawn with its last waiter.
        do { _ = try await lookup.waitAsLeader() } catch is CancellationError { throw CancellationError() } catch {}
        return try await task.value
    }

    /// Loads the resource from the index, or asks the origin.
    private func find(_ errand: LiveResource.Machine.Errand) async throws -> Outcome {
        if resource.handle({ $0.mustLoad }), await resource.load() { return .again(.changed) }
        guard wanted.mayAsk(resource.policy) else {
            throw RepriseError.notStored(wanted.origin.url, isOffline: resource.policy.isOffline)
        }
        let question = OriginQuestion(resource: resource, wanted: wanted)
        switch errand {
        case .discover(let replaced):
            if let left = wanted.origin.context.successor?.take() { return try await adopt(left, replacing: replaced) }
            let completion =
                if let replaced { try await question.completion(of: replaced) } else { nil as OriginAnswer? }
            let judged =
                if let completion { completion } else {
                    try await question.representation(replacing: replaced)
                }
            return try await adopt(judged, replacing: replaced)
        case .validate(let generation, let reason):
            switch try await question.validate(generation, because: reason) {
            case .confirmed(let how):
                if wanted.play != nil { generation.noteQuestion() }
                return .again(.confirmed(generation, how))
            case .replaced(let judged): return try await adopt(judged, replacing: generation)
            case .gone:
                // Keep the stored response, but stale, until its replacement arrives.
                generation.expire()
                return try await adopt(try await question.representation(replacing: generation), replacing: generation)
            }
        }
    }

    private func adopt(_ judged: OriginAnswer, replacing replaced: Generation?) async throws -> Outcome {
        .read(try await Adoption(resource: resource, wanted: wanted, judged: judged, replaced: replaced).run())
    }

    // MARK: - In the background

    /// Size limit, in bytes, for representations fetched by a background validation.
    private static let quietlyFetched: Int64 = 1 << 20

    /// Validates in the background (RFC 5861 §3).
    private func revalidate(_ generation: Generation) {
        // The reader that triggered this may have left, so validate the whole and not its part.
        var request = ReadRequest(range: nil, origin: wanted.origin)
        request.origin.demand = .preload
        let opening = ReadOpening(resource: resource, wanted: request)
        Task(priority: .userInitiated) { [resource] in
            defer { resource.handle { $0.revalidationEnded() } }
            do {
                let question = OriginQuestion(resource: resource, wanted: opening.wanted)
                switch try await question.validate(generation, because: .stale) {
                case .confirmed: break
                case .replaced(let judged): try await opening.replaceQuietly(generation, by: judged)
                case .gone: generation.expire()
                }
            } catch {
                let reason = RepriseError.words(of: error) ?? "\(error)"
                resource.engine.reporter.tell(.servedStale(resource.key, reason: reason))
            }
        }
    }

    /// Fetches a small new representation at once; leaves a large one to its next reader.
    private func replaceQuietly(_ generation: Generation, by judged: OriginAnswer) async throws {
        guard case .newGeneration(let placement, _) = judged.action,
            let length = placement.completeLength, length <= Self.quietlyFetched
        else {
            judged.response.body.cancel()
            generation.invalidate()
            return
        }
        guard case .read(let read) = try await adopt(judged, replacing: generation) else { return }
        for try await _ in read {}
    }
}
