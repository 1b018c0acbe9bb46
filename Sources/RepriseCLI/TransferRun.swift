import ArgumentParser
import Reprise
import RepriseHTTPClient

/// What `fetch`, `download` and `pin` do their work with: the cache, which they open, or the server that has it open.
struct TransferRun: Sendable {
    /// What came of several URLs.
    struct Outcome: Sendable {
        /// The first failure's exit code.
        var code: ExitCode?
        /// Whether nothing was done.
        var isVain = true

        /// Notes that one URL was done.
        mutating func noteSuccess() { isVain = false }

        /// Notes the failure of one URL.
        mutating func note(_ reason: Failure.Reason) { code = code ?? reason.code }
    }

    private let cache: CacheOptions
    private let store: StoreOptions
    private let settings: MediaCache.Configuration
    private let aging: Aging
    /// Given options that are settings of an open cache.
    private let given: String?

    /// Takes the settings of the cache from the options; `pace` is that of downloads.
    init(cache: CacheOptions, store: StoreOptions, pace: DownloadOptions? = nil) throws {
        (self.cache, self.store) = (cache, store)
        var settings = try store.configuration(cache)
        try DownloadOptions.apply(pace, to: &settings, from: cache.settings())
        aging = Aging(&settings)
        self.settings = settings
        given = store.given ?? (pace?.isGiven == true ? "--rate and --while" : nil)
    }

    /// Runs `work`, which a signal ends; throws the exit code of its outcome.
    ///
    /// With `mayDoWithout`, a directory that cannot be used is no error: then nothing is stored.
    func callAsFunction(
        _ signals: StopSignals, mayDoWithout: Bool = false,
        _ work: @escaping @Sendable (CacheAccess) async throws -> Outcome
    ) async throws {
        let origin = try OriginClient.make(for: cache, store)
        let opened: MediaCache
        do { opened = try await cache.open(settings, origin: origin, mayDoWithout: mayDoWithout) } catch {
            await origin.shutdown()
            guard let server = try await cache.server(insteadOf: error, given: given, isReset: store.reset) else {
                throw error
            }
            try await run(signals, by: server, work)
            return
        }
        if mayDoWithout, let reason = opened.storeProblem.flatMap({ Failure.reason($0) }) { Failure.report(reason) }
        let result = await signals.interrupting { try await work(.opened(opened)) }
        if case .success(let outcome) = result {
            // A limit under which nothing was done is not the cache's.
            if outcome.isVain { try await opened.restoreLimit() } else { await aging.apply(to: opened) }
        }
        await opened.close()
        await origin.shutdown()
        if let code = try await signals.get(result, stored: cache).code { throw code }
    }

    private func run(
        _ signals: StopSignals, by server: ControlClient,
        _ work: @escaping @Sendable (CacheAccess) async throws -> Outcome
    ) async throws {
        let result = await signals.interrupting { try await work(.server(server)) }
        // What came has to be in the index, before it is said how much that is. A server that has ended has recorded
        // it.
        if case .failure(is StopSignals.StoppedTransfer) = result {
            _ = try? await server.perform(FlushOperation(), patience: ControlClient.patience) { _ in }
        }
        if let code = try await signals.get(result, stored: cache).code { throw code }
    }
}
