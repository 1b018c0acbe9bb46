import HTTPSemantics
import Primitives

/// The layers between the cache and its client, the outermost first.
///
/// Each wraps an ``Origin`` and can be left out.
///
/// - ``ImportingOrigin`` reads imported files.
/// - ``OfflineOrigin`` refuses requests that must not be sent.
/// - ``PrioritizedOrigin`` waits for the request's turn.
/// - ``AuthorizedOrigin`` asks the app's program for an authorization if a request is refused.
/// - ``MeteredOrigin`` counts and measures each request that the client sends.
enum OriginLayers {
    static func stack(
        on client: any Origin, configuration: MediaCache.Configuration, precedence: Precedence,
        authorizer: Authorizer?, meters: MeteredOrigin.Meters
    ) -> any Origin {
        var origin: any Origin = MeteredOrigin(client, meters: meters, configuration: configuration)
        if let authorizer { origin = AuthorizedOrigin(next: origin, authorizer: authorizer) }
        origin = PrioritizedOrigin(next: origin, precedence: precedence)
        origin = OfflineOrigin(next: origin, isOffline: configuration.reuse.isOffline)
        return ImportingOrigin(next: origin, clock: configuration.clock)
    }
}

/// Reads the file that a request is imported from, which neither the network nor offline mode has to do with.
struct ImportingOrigin: Origin {
    let next: any Origin
    let clock: CacheClock

    func send(_ request: OriginRequest) async throws -> OriginResponse {
        guard let source = request.context.source else { return try await next.send(request) }
        let time = Int64(clock.now())
        var response = try await source.send(request)
        response.requestTime = time
        return response
    }
}

/// Refuses requests in offline mode, and those that may use no network.
struct OfflineOrigin: Origin {
    let next: any Origin
    let isOffline: Bool

    func send(_ request: OriginRequest) async throws -> OriginResponse {
        guard !isOffline, request.networkPolicy != .never else {
            throw RepriseError.notStored(request.url, isOffline: isOffline)
        }
        return try await next.send(request)
    }
}

extension RepriseError {
    /// The error for bytes of `url` that are not stored, and for which the origin must not be asked.
    static func notStored(_ url: ResourceURL, isOffline: Bool) -> RepriseError {
        var error = RepriseError(
            .notStored, "\(url.redacted) is not stored in full, and no request may be sent to its origin.")
        if isOffline { error.obstacle = .offline }
        return error
    }
}

/// Sends a request when its turn has come; see ``Precedence``.
struct PrioritizedOrigin: Origin {
    let next: any Origin
    let precedence: Precedence

    /// Throws `CancellationError` if nothing wants the request any more before it is sent.
    func send(_ request: OriginRequest) async throws -> OriginResponse {
        let interest = request.context.interest ?? RequestInterest(request.demand)
        if !request.context.hasTurn { await precedence.waitForTurn(interest, at: request.url.authority) }
        guard let demand = interest.demand else { throw CancellationError() }
        var request = request
        request.demand = demand
        request.context.interest = interest
        // An authorization may give it another URL.
        let host = request.account
        request.context.account = host
        let number = precedence.sends(interest, to: host)
        defer { precedence.answered(number, at: host) }
        return try await next.send(request)
    }
}

/// Gives requests the authorization that is known, and sends one again with another if it is refused.
struct AuthorizedOrigin: Origin {
    let next: any Origin
    let authorizer: Authorizer

    func send(_ request: OriginRequest) async throws -> OriginResponse {
        guard request.method == .get || request.method == .head else { return try await next.send(request) }
        var sent = authorizer.apply(to: request)
        var response = try await next.send(sent.request)
        var isFinal = false
        // Once with an authorization that became known in the meantime, and once with one for this request.
        for _ in 0..<2 where !isFinal {
            let renewal: Authorizer.Renewal?
            do { renewal = try await authorizer.renewal(of: request, sentAs: sent, after: response) } catch {
                response.body.cancel()
                throw error
            }
            guard let renewal else { break }
            response.body.cancel()
            (sent, isFinal) = (renewal.authorized, renewal.isFinal)
            response = try await next.send(sent.request)
        }
        return response
    }
}

/// Counts each request that the client sends and its outcome, measures the time to its head, and reports
/// violations of HTTP in its response.
struct MeteredOrigin: Origin {
    /// The places for the numbers and the reports.
    struct Meters {
        let reporter: Reporter
        let timings: OriginTimings
        let awayHosts, silentHosts: AwayHosts
    }

    private let client: any Origin
    private let meters: Meters
    private let clock: CacheClock
    private let keyPolicy: CacheKeyPolicy

    init(_ client: any Origin, meters: Meters, configuration: MediaCache.Configuration) {
        (self.client, self.meters) = (client, meters)
        (clock, keyPolicy) = (configuration.clock, configuration.keyPolicy)
    }

    func send(_ request: OriginRequest) async throws -> OriginResponse {
        let (reporter, host) = (meters.reporter, request.account)
        var request = request
        let key = request.context.key ?? keyPolicy.key(for: request.url)
        request.context.onOddity = { oddity in
            reporter.remark("Its responses violate HTTP/1.1, and were read anyway.", oddity, about: key, at: host)
        }
        reporter.count { $0.statistics.originRequests += 1 }
        let (time, start) = (Int64(clock.now()), clock.elapsed())
        do {
            var response = try await client.send(request)
            let outcome = OriginCounts.Outcome(status: response.head.status.code)
            let delay = response.onStored == nil ? clock.elapsed() - start : nil
            if let delay { meters.timings.noteFirstByte(delay, from: host) }
            reporter.count { $0.origins.count(host) { $0.noteRequest(outcome, after: delay) } }
            meters.awayHosts.noteAnswer(from: request.url.authority)
            meters.silentHosts.noteAnswer(from: request.url.authority)
            (response.asked, response.requestTime) = (request, time)
            response.head.repair(
                askedFor: request.context.range, now: HTTPDate(secondsSince1970: clock.moment.date))
            return response
        } catch {
            let outcome = error is CancellationError ? OriginCounts.Outcome.canceled : .failed
            reporter.count { $0.origins.count(host) { $0.noteRequest(outcome) } }
            meters.awayHosts.note(error, from: request.url.authority)
            // A request that has waited in the client's own queue says nothing about the host.
            if let error = error as? RepriseError, error.code == .originTimedOut,
                !(error.cause is ConnectionQueueTimeout), request.longestSilence == nil
            {
                meters.silentHosts.noteFailure(of: request.url.authority)
            }
            throw error
        }
    }
}
