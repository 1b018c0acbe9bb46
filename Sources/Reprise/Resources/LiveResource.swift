import HTTPSemantics
import HTTPTypes
import Primitives

/// A live resource: the machine that says what is known of it, under a lock, and the effects of what it decides.
///
/// The first read of an unknown resource leads: its request is the probe. All others wait for the head of that one
/// response (a collapsed request, RFC 9111 §4); the same holds when a stale generation has to be validated. Where the
/// responses vary with the request, each variant is a live resource of its own, under a key that names it, and the
/// resource with the primary key (RFC 9111 §4.1) only tells which fields select among them.
///
/// Lock order: `machine` before a generation's lock. Lookups are finished and the origin is asked outside it.
final class LiveResource: Sendable {
    typealias Machine = ResourceMachine<Generation>

    let key: CacheKey
    let engine: Engine
    /// The resource that this one is a variant of.
    let primary: LiveResource?
    private let machine: Mutex<Machine>

    init(key: CacheKey, engine: Engine, primary: LiveResource? = nil) {
        self.key = key
        self.engine = engine
        self.primary = primary
        machine = Mutex(Machine(policy: engine.configuration.reuse))
    }

    var policy: ReusePolicy { engine.configuration.reuse }
    private var moment: Moment { engine.clock.moment }

    /// Handles an event of ``ResourceMachine``, or answers a question about it.
    @discardableResult
    func handle<Result: Sendable>(_ event: (inout Machine) -> Result) -> Result { machine.withLock { event(&$0) } }

    // MARK: - What is known

    var liveGeneration: Generation? { machine.withLock { $0.generation } }
    /// The request fields that select the response, if its responses vary.
    var vary: Vary? { machine.withLock { $0.vary } }
    /// Whether a part for a hole could not be joined, so that the whole has to be requested.
    var needsWhole: Bool { machine.withLock { $0.needsWhole } }
    var isDetached: Bool { machine.withLock { $0.isDetached } }
    var isIdle: Bool { machine.withLock { $0.isIdle } }

    /// Number of readers that wait for the head of a response.
    var waitingReaders: Int { machine.withLock { $0.lookup?.waiters ?? 0 } }

    /// The generation in memory that answers `request`.
    func liveGeneration(for request: OriginRequest) -> Generation? {
        guard let vary else { return liveGeneration }
        return engine.liveResource(key.variant(by: vary, for: request))?.liveGeneration
    }

    /// The live resource that has the key now.
    func current() throws(RepriseError) -> LiveResource {
        guard isDetached else { return self }
        return try engine.resource(key, variantOf: try primary?.current())
    }

    // MARK: - Reads

    /// Begins a read.
    ///
    /// Throws ``RepriseError``: `rangeNotSatisfiable`, `originRefused`, `notStored`, any `origin…` code.
    func open(_ wanted: ReadRequest) async throws -> MediaRead {
        try await ReadOpening(resource: self, wanted: wanted).run()
    }

    /// What the read does that `wanted` describes; see ``ResourceMachine/open(_:unusable:confirmed:at:)``.
    func step(
        for wanted: ReadRequest, unusable: Generation?, confirmed: Generation?
    ) -> Machine.Step {
        let moment = moment
        return machine.withLock { $0.open(wanted, unusable: unusable, confirmed: confirmed, at: moment) }
    }

    /// The beginning of `spec`, at most `count` bytes, if all of `spec` is stored, verified, and usable without asking
    /// the origin.
    ///
    /// Never waits.
    func hit(_ spec: RangeSpec?, atMost count: Int64, for directives: CacheControl?) -> StoredHit? {
        guard let generation = machine.withLock({ $0.hit() }) else { return nil }
        if let directives, generation.reuse(for: directives) != .serve { return nil }
        let isAlwaysUsable = policy.isOffline || engine.configuration.generationPolicy == .immutable
        return generation.hit(
            spec, atMost: count, isUsable: directives != nil || isAlwaysUsable, isFinal: isAlwaysUsable)
    }

    /// The generation that answers `request`, loaded from the index if necessary; does not ask the origin.
    func stored(for request: OriginRequest) async throws -> Generation? {
        while true {
            switch machine.withLock({ $0.find(for: request) }) {
            case .moved: return try await current().stored(for: request)
            case .found(let generation): return generation
            case .variant(let vary):
                return try await Variants(of: self).resource(by: vary, for: request).stored(for: request)
            case .follow(let lookup): _ = try await lookup.wait(request)
            case .load(let lookup): await load(for: lookup)
            }
        }
    }

    /// As ``stored(for:)``, but `nil` where that waits for a lookup under way, or the response varies.
    func storedAtOnce(for request: OriginRequest) async -> Generation? {
        switch machine.withLock({ $0.find(for: request) }) {
        case .found(let generation): return generation
        case .load(let lookup):
            await load(for: lookup)
            return liveGeneration
        case .moved, .variant, .follow: return nil
        }
    }

    private func load(for lookup: Lookup) async {
        _ = await load()
        finish(lookup, with: .success(.changed))
    }

    // MARK: - What a lookup brings

    /// Loads what the index has; false if it knows nothing of the resource.
    func load() async -> Bool {
        guard let store = engine.store else {
            machine.withLock { $0.loaded(.nothing) }
            return false
        }
        await engine.removals.pass(key)
        let found = await GenerationLoader(resource: self, store: store).load()
        machine.withLock { $0.loaded(found) }
        if case .nothing = found { return false }
        return true
    }

    /// The lookup is over: readers that waited look again, or throw its error.
    func finish(_ lookup: Lookup, with result: Result<Lookup.Found, RepriseError>) {
        machine.withLock { $0.lookupEnded() }
        lookup.finish(result)
    }

    /// The origin answered without media: `makeAnswer` makes what answers further requests of the answer kept until
    /// now, if anything does.
    func refused(_ makeAnswer: (_ previous: CachedRefusal?, Moment) -> CachedRefusal?) {
        let moment = moment
        machine.withLock { machine in
            if let answer = makeAnswer(machine.cachedRefusal, moment) { machine.refused(answer) }
        }
    }

    /// The part for a hole could not be joined.
    func holeStayed() { machine.withLock { $0.holeStayed() } }

    // MARK: - What ends it

    /// Detaches this live resource if allowed, because only one at a time may use the generation's file.
    ///
    /// Readers that still hold it are sent on to the next one.
    func detach(_ when: Machine.Detachment) -> Bool {
        guard case .leaves(let generation) = machine.withLock({ $0.detach(when) }) else { return false }
        generation?.markRemoved()
        return true
    }

    /// Detaches it because the cache closes; returns the generation, whose stored bytes its readers can still read.
    func end() -> Generation? {
        guard case .leaves(let generation) = machine.withLock({ $0.detach(.always) }) else { return nil }
        return generation
    }

    /// Marks the response as stale, so that it is not used without asking the origin (RFC 9111 §4.4).
    func invalidate() { machine.withLock { $0.invalidated() }?.invalidate() }

    /// Drops a generation that is no longer current at the origin; the next read asks the origin.
    func forget(_ generation: Generation) {
        let hasFormer = generation.hasFormer
        retireLater { $0.forget(generation, hasFormer: hasFormer) }
    }

    /// Makes each variant by `vary` a resource of its own.
    func varies(by vary: Vary) { retireLater { $0.variesBy(vary) } }

    /// Removes a generation that is being replaced.
    ///
    /// Its readers keep the open file and finish from stored bytes.
    func retire(_ generation: Generation, from store: Store) async {
        generation.markRemoved(because: .replaced)
        guard store.problem == nil else { return }
        // If the index cannot be written, there is nothing to remove; a record that is written later is found without
        // its file.
        if generation.isRecorded || !store.recorder.isFailing {
            do {
                _ = try await store.recorder.remove(generation: generation.id)
            } catch {
                engine.reporter.tell(.storeBypassed(key, reason: error.explanation))
            }
        }
        await generation.discardFile()
    }

    /// Removes the generation that `choose` takes out of the machine; it cannot be loaded again during the removal.
    private func retireLater(_ choose: (inout Machine) -> Generation?) {
        // Before the machine forgets it: the next read must not find its record.
        engine.removals.close(key)
        guard let generation = machine.withLock({ choose(&$0) }), let store = engine.store else {
            engine.removals.open(key)
            return
        }
        Task(priority: .userInitiated) {
            await self.retire(generation, from: store)
            self.engine.removals.open(self.key)
        }
    }
}

/// Requests that store nothing: HEAD and other methods.
extension LiveResource {
    /// Sends HEAD; the response may freshen or invalidate the stored one (RFC 9111 §4.3.5).
    func head(_ request: OriginRequest) async throws -> HTTPResponse {
        var response = try await engine.origin.send(request.asking(for: nil))
        response.body.cancel()
        response.dropForeignCookies(of: request.url)
        if response.head.status == .ok, let generation = liveGeneration,
            generation.mayBeChanged(by: response.head.headerFields, for: request)
        {
            let fields = response.head.headerFields
            switch generation.record.identity.verdict(ofHead: fields, isShared: policy.isShared) {
            case .freshens:
                // A response without a body does not vouch for a Content-Type.
                var fields = fields
                fields[.contentType] = nil
                generation.freshen(fields, requestTime: response.requestTime, by: request)
            case .contradicts: generation.expire()
            case .tellsNothing:
                // It describes the kind of file rather than its bytes.
                if let features = fields[.contentFeatures] { generation.note(contentFeatures: features) }
            }
        }
        return response.head
    }

    /// Forwards a request with another method.
    func forward(_ request: OriginRequest) async throws -> OriginResponse {
        if policy.isOffline || request.networkPolicy == .never {
            throw RepriseError(
                .notStored, "The origin must not be asked, so \(request.method.rawValue) cannot be sent.")
        }
        var response = try await engine.origin.send(request.asking(for: nil))
        response.body = CountedBody(response.body, host: request.url.authority, reporter: engine.reporter)
        let isSafe = [HTTPRequest.Method.get, .head, .options, .trace].contains(request.method)
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
}

/// The variants of one resource: the live resources that its primary key stands for (RFC 9111 §4.1).
struct Variants: Sendable {
    private let primary: LiveResource

    /// The variants that `resource` is one of, or stands for.
    init(of resource: LiveResource) { primary = resource.primary ?? resource }

    /// The variant that `vary` selects for `request`.
    func resource(by vary: Vary, for request: OriginRequest) throws(RepriseError) -> LiveResource {
        try primary.engine.resource(primary.key.variant(by: vary, for: request), variantOf: primary)
    }

    /// Where a response belongs that names these selecting fields and answers `request` for `resource`: there, or in a
    /// variant.
    ///
    /// Fields that an earlier response named count as well, because its variants may still be stored.
    func home(of resource: LiveResource, by vary: Vary?, for request: OriginRequest) throws(RepriseError)
        -> LiveResource
    {
        let known = primary.vary ?? Vary(names: [])
        let all = known.union(vary ?? Vary(names: []))
        guard !all.isEmpty else { return resource }
        let home = try self.resource(by: all, for: request)
        if all != known { primary.varies(by: all) }
        primary.engine.store?.recorder.noteVariant(home.key, of: primary.key, by: all)
        return home
    }
}
