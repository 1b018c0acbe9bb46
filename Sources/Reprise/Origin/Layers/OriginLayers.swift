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
