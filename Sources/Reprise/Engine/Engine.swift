import ByteRanges
import HTTPSemantics
import HTTPTypes
import Primitives

/// What every part of one cache shares: where bytes come from, where they go, time, numbers; and the live resources.
final class Engine: Sendable {
    /// The client, below the layers of ``origin``.
    let client: any Origin
    /// Answers requests; see ``OriginLayers``.
    let origin: any Origin
    let configuration: MediaCache.Configuration
    /// The clock of the configuration, apart: hits ask it, and a copy of the whole costs more than they do.
    let clock: CacheClock
    /// `nil` when nothing can be stored at all.
    let store: Store?
    let reporter: Reporter
    /// Why nothing can be stored, although it was to be.
    let storeProblem: RepriseError?
    let timings = OriginTimings()
    let precedence: Precedence
    /// How fast downloads may be.
    let pace: DownloadPace
    /// What downloads under way still need.
    let promisedRoom = PromisedRoom()
    /// Titles are removed, and a download claims files for its title, one after the other: what is claimed does not go
    /// with another title, and what goes is gone before it is looked for.
    let claims = Turn()
    /// `nil` if no program is asked.
    let authorizer: Authorizer?
    /// The hosts that give each request another file.
    let splicing: SplicingHosts
    /// The hosts that cannot be reached at present.
    let awayHosts: AwayHosts
    /// The hosts that let a request time out: stored responses are served stale instead of validating them there.
    let silentHosts: AwayHosts
    /// Range request quirks of hosts.
    let rangeHabits: RangeHabits
    let progress = ProgressBoard()
    /// The origin, if it transfers in the background.
    let background: (any BackgroundOrigin)?
    /// Keeps loads of a key out while its entry is being removed; a key is closed before another live resource for it
    /// can be made.
    let removals = Barrier<CacheKey>()
    /// Receives notice of removed bytes; set once.
    let removalListener = Mutex<RemovalListener?>(nil)
    /// Fetches that run, those of replaced and removed generations too.
    let fetchesUnderWay = Mutex(0)

    private struct State {
        var resources = ResourceTable<LiveResource>(
            capacity: Engine.capacity, trialCapacity: Engine.trialCapacity)
        var isClosed = false
    }

    /// Guards the table only; taken before a resource's own lock, never after it.
    private let state = Mutex(State())
    /// Resources of which something is stored that are kept in memory; beyond it the oldest idle ones leave.
    private static let capacity = 448
    /// The same of those that nothing is known of yet.
    private static let trialCapacity = 64

    init(
        origin: any Origin, configuration: MediaCache.Configuration, store: Store?, reporter: Reporter,
        problem: RepriseError? = nil, pace: DownloadPace? = nil
    ) {
        storeProblem = store?.problem ?? problem
        client = origin
        background = (origin as? any BackgroundOrigin).flatMap { $0.isInBackground ? $0 : nil }
        self.configuration = configuration
        clock = configuration.clock
        self.store = store
        self.reporter = reporter
        splicing = SplicingHosts(store, clock: configuration.clock)
        awayHosts = AwayHosts(clock: configuration.clock)
        silentHosts = AwayHosts(clock: configuration.clock, memory: .seconds(60))
        rangeHabits = RangeHabits(clock: configuration.clock)
        precedence = Precedence(clock: configuration.clock, isOffline: configuration.reuse.isOffline)
        self.pace = pace ?? DownloadPace(rate: configuration.downloadRate, clock: configuration.clock)
        authorizer = configuration.authorize.map { Authorizer($0) }
        self.origin = OriginLayers.stack(
            on: origin, configuration: configuration, precedence: precedence, authorizer: authorizer,
            meters: MeteredOrigin.Meters(
                reporter: reporter, timings: timings, awayHosts: awayHosts, silentHosts: silentHosts))
        precedence.whenReadersWait { [weak self] in self?.watchWaits() }
    }

    /// The one live resource of `key`; `primary` is the resource that it is a variant of.
    func resource(_ key: CacheKey, variantOf primary: LiveResource? = nil) throws(RepriseError) -> LiveResource {
        if let live = state.withLock({ $0.isClosed ? nil : $0.resources[key] }) { return live }
        // Hashed outside the lock.
        let name = store?.index.name(of: key) ?? key.text
        let live: LiveResource? = state.withLock { state in
            guard !state.isClosed else { return nil }
            if let live = state.resources[key] { return live }
            let live = LiveResource(key: key, engine: self, primary: primary)
            state.resources.insert(
                live, at: key, name: name, primary: primary?.key,
                trial: { $0.handle { $0.isKnown } ? .settles : $0.detach(.ifRecorded) ? .leaves : .stays },
                review: { $0.handle { $0.takeUse() } || !$0.detach(.ifRecorded) ? .stays : .leaves })
            return live
        }
        guard let live else { throw RepriseError(.closed, "The cache was closed.") }
        return live
    }

    /// How many removals of titles there were.
    var removedTitleCount: Int { store?.recorder.removedTitleCount ?? 0 }

    /// The resources in memory.
    var liveResources: [LiveResource] { state.withLock { $0.resources.all } }

    var liveKeys: [CacheKey] { liveResources.map(\.key) }

    /// Whether a resource in memory has this name in the index.
    func isLive(name: String) -> Bool { state.withLock { $0.resources.contains(name: name) } }

    var isIdle: Bool {
        liveResources.allSatisfy(\.isIdle) && fetchesUnderWay.withLock { $0 } == 0
    }

    func liveResource(_ key: CacheKey) -> LiveResource? { state.withLock { $0.resources[key] } }

    /// Takes the resource out of the table if no reader or fetch uses it, or in any case with `force`.
    ///
    /// Not once the table was emptied: it no longer knows what is in use.
    func detach(_ key: CacheKey, force: Bool) -> (isRemoved: Bool, resource: LiveResource?) {
        state.withLock { state in
            guard !state.isClosed else { return (false, nil) }
            guard let resource = state.resources[key] else { return (true, nil) }
            guard resource.detach(force ? .always : .ifUnused) else { return (false, nil) }
            state.resources.remove(key)
            return (true, resource)
        }
    }

    /// Whether a reader or a fetch uses the resource of `key`, so that eviction leaves it alone.
    func isInUse(_ key: CacheKey) -> Bool {
        state.withLock { state in state.isClosed || state.resources[key].map { !$0.isIdle } ?? false }
    }

    /// Whether a reader is at the entry under `key`.
    func isBeingRead(_ key: CacheKey) -> Bool { liveResource(key)?.liveGeneration?.workload.readers ?? 0 > 0 }

    /// The live resource of `key` and its variants.
    func family(of key: CacheKey) -> [LiveResource] { state.withLock { $0.resources.family(of: key) } }

    /// Makes the responses stored under `key`, with all its variants, stale for good (RFC 9111 §4.4).
    func invalidate(_ key: CacheKey) {
        for resource in family(of: key) { resource.invalidate() }
        store?.recorder.noteInvalidation(of: key)
    }

    /// Drops a response that is stored under `key` or as one of its variants; the next read asks the origin.
    ///
    /// Waits until its bytes are removed.
    func forget(_ generation: Generation, under key: CacheKey) async {
        let resources = family(of: key)
        for resource in resources { resource.forget(generation) }
        for resource in resources { await removals.pass(resource.key) }
    }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Empties the table; what a lookup under way finds is adopted by no resource any more.
    func close() -> [Generation] {
        let resources = state.withLock { state in
            state.isClosed = true
            defer { state.resources = ResourceTable(capacity: 0, trialCapacity: 0) }
            return state.resources.all
        }
        return resources.compactMap { $0.end() }
    }

    /// Ends every fetch, records everything, and lets the next one have the directory.
    func shutDown() async {
        for generation in close() { await generation.stopFetches() }
        do {
            try await store?.close()
        } catch {
            reporter.tell(.storeBypassed(nil, reason: error.explanation))
        }
        progress.finish()
        reporter.finish()
    }

    // MARK: - The origin

    /// Which restrictions on storing a response to `request` are kept.
    func storage(for request: OriginRequest, directives: CacheControl = CacheControl()) -> StoragePolicy {
        // A key that several users share must not outlive what its origin allows.
        let isOwnKey = request.context.isForKey && !configuration.reuse.isShared
        var storage = StoragePolicy(
            honorsNoStore: !configuration.reuse.forces(request.url.host) && !isOwnKey,
            isShared: configuration.reuse.isShared,
            hasAuthorization: request.fields[.authorization] != nil, requestForbidsStoring: directives.noStore)
        if storage.isShared { storage.unkeyedFields = request.fields.unkeyed }
        return storage
    }

    /// `request` for what others get, too: in a shared cache without fields that may change the response and are not
    /// part of the key of the stored one, whose fields are `stored`.
    func impersonal(_ request: OriginRequest, stored: HTTPFields) -> OriginRequest {
        guard configuration.reuse.isShared else { return request }
        var request = request
        request.fields = request.fields.withoutUnkeyed(by: Vary(stored))
        return request
    }

    /// How failed requests are retried.
    ///
    /// Clients of a shared cache are told what the origin said, and decide themselves.
    var retryPolicy: RetryPolicy {
        var policy = configuration.retry
        if configuration.reuse.isShared { policy.refusals = 0 }
        return policy
    }

    /// `request` with what is known of its authorization, for a target that only the same request may use.
    func authorized(_ request: OriginRequest) -> OriginRequest { authorizer?.apply(to: request).request ?? request }
}

/// Called with the keys of entries that lost bytes, and whether the bytes were evicted.
struct RemovalListener: Sendable {
    let call: @Sendable (_ keys: Set<CacheKey>, _ byEviction: Bool) -> Void
}

/// Readers wait for fetches only as long as an origin may take.
extension Engine {
    /// Longest time that a fetch with waiting readers may make no progress.
    ///
    /// An origin may take 30 s for a place in the queue, 10 s to connect, and 30 s to answer or between two pieces. A
    /// parent asks others in turn, and may take twice as long.
    static let waitLimit = Duration.seconds(180)
    /// A wait that is almost overdue is not looked at sooner than this.
    private static let shortestPause = Duration.seconds(1)

    /// Gives up fetches that stand still while readers wait for them, until no reader waits any more.
    ///
    /// One task for all waits: it begins with the first one, and one wait after another costs no timer.
    func watchWaits() {
        Task(priority: .userInitiated) { [weak self, clock] in
            var pause: Duration? = Self.waitLimit
            while let time = pause, (try? await clock.awake.sleep(time)) != nil { pause = self?.endOverdueWaits() }
        }
    }

    /// Returns the time until the next look; `nil` if no reader waits.
    private func endOverdueWaits() -> Duration? {
        let rests = liveResources.compactMap { $0.liveGeneration?.endOverdueWaits(Self.waitLimit) }
        if let next = rests.min() { return max(next, Self.shortestPause) }
        return precedence.endWatch() ? nil : Self.waitLimit
    }
}
