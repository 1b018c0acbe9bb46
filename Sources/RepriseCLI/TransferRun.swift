import ArgumentParser
import Reprise
import RepriseHTTPClient
import RepriseProxy

/// Runs transfers of `fetch`, `download` and `pin` in the cache, or through the server that has it open.
struct TransferRun: Sendable {
    /// The outcome for all URLs.
    struct Outcome: Sendable {
        /// The first failure's exit code.
        var code: ExitCode?
        /// Whether nothing was done.
        var isVain = true
    }

    /// The reason why a download waits; it stays a download.
    struct Waiting: Error { let reason: Failure.Reason }

    /// The reason why a URL is not stored, although all that was wanted was done.
    struct Unstored: Error { let reason: Failure.Reason }

    private let cache: CacheOptions
    private let store: StoreOptions
    private let settings: MediaCache.Configuration
    private let aging: Aging
    /// Given options that are settings of an open cache.
    private let given: String?

    /// Reads the settings of the cache from the options.
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
        let layers = try OriginClient.signing(origin, for: cache)
        let opened: MediaCache
        do {
            opened = try await cache.open(
                settings, origin: layers, mayDoWithout: mayDoWithout, wait: store.wait, signals: signals)
        } catch {
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

    /// Runs `work` for each URL in turn; a failure does not stop the others.
    ///
    /// What was noticed about the host of a URL is printed once, unless an error says more.
    static func each(
        _ urls: [String], in access: CacheAccess, output: TransferOutput? = nil,
        _ work: (String, FetchMeter) async throws -> Void
    ) async throws -> Outcome {
        var outcome = Outcome()
        var remarks: Set<HostRemark> = []
        for (index, url) in urls.enumerated() {
            let turn = urls.count > 1 ? FetchMeter.Turn(number: index + 1, count: urls.count) : nil
            let meter = FetchMeter(url: url, turn: turn, output: output)
            do {
                try await work(url, meter)
                outcome.isVain = false
                guard output?.quiet != true else { continue }
                // The transfer has succeeded, whatever becomes of this question.
                for remark in (try? await access.perform(RemarksOperation(url: url)))?.remarks ?? [] {
                    if remarks.insert(remark).inserted { Failure.report(remark) }
                }
            } catch let warning as Unstored {
                Failure.report(warning.reason, of: url, amongOthers: urls.count > 1)
            } catch {
                // Results cannot be printed any more.
                if error is OutputFile.Failure { throw error }
                let waiting = error as? Waiting
                if waiting != nil { outcome.isVain = false }
                guard let reason = waiting?.reason ?? Failure.reason(error) else { throw error }
                if output?.json == true { try Terminal.printJSON(meter.report("failed", failure: reason)) }
                Failure.report(reason, of: url, amongOthers: urls.count > 1)
                outcome.code = outcome.code ?? reason.code
            }
        }
        return outcome
    }

    private func run(
        _ signals: StopSignals, by server: ControlClient,
        _ work: @escaping @Sendable (CacheAccess) async throws -> Outcome
    ) async throws {
        var result = await signals.interrupting { try await work(.server(server)) }
        // Record all bytes before reporting how many there are. A server that has ended has recorded them.
        if case .failure(var stop as StopSignals.StoppedTransfer) = result {
            let flushed = try? await server.perform(
                FlushOperation(key: stop.key.text), patience: ControlClient.patience
            ) { _ in }
            stop.storedBytes = flushed?.storedBytes
            result = .failure(stop)
        }
        if let code = try await signals.get(result, stored: cache).code { throw code }
    }
}

extension CacheAccess {
    /// Performs a transfer of `url`; if it is canceled, the error contains `advice`.
    func perform<Operation: ControlOperation>(
        _ operation: Operation, shownBy meter: FetchMeter, of url: String, names: Names, advice: String,
        body: @escaping @Sendable ([UInt8]) async throws -> Void = { _ in }
    ) async throws -> Operation.Outcome where Operation.Progress == TransferReport {
        do { return try await perform(operation, shownBy: meter, body: body) } catch {
            // An error of a canceled task is not the origin's fault.
            guard error is CancellationError || Task.isCancelled else { throw error }
            if meter.isJSON { try Terminal.printJSON(meter.report("interrupted")) }
            // The progress of a server that does not answer is unknown.
            if error is StopSignals.Interruption { throw error }
            throw StopSignals.StoppedTransfer(
                key: try meter.key ?? names.policy.key(for: ResourceURL(url)), name: URLText.name(of: url),
                policy: names.policy, advice: advice)
        }
    }
}

/// The options for the output of transfers.
struct TransferOutput: ParsableArguments {
    @Flag(help: "Progress and results as one JSON object per line on standard output.")
    var json = false
    @Flag(name: .shortAndLong, help: "No progress, only results and errors.")
    var quiet = false
}

/// The stored bytes after a transfer, in words.
struct StoredAmount: CustomStringConvertible {
    let description: String

    init(_ bytes: Int64) { description = bytes == 0 ? "the file is empty" : "\(ByteCount(bytes)) stored" }
}
