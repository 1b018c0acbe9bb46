import HTTPTypes
package import NIOCore
import NIOPosix
import Primitives
package import Reprise

/// Asks other servers of Reprise in place of origins, one after the other until one answers.
///
/// A body that breaks off is the engine's to resume, with `Range` and `If-Range`: the request for the rest finds
/// another parent, so that a player does not notice that one has died.
package struct ParentOrigin: Origin {
    /// What happens if no parent answers.
    package enum Fallback: String, CaseIterable, Sendable {
        /// The origin is asked.
        case direct
        /// The request fails.
        case none
    }

    /// Which parents are asked, and how.
    package struct Configuration: Sendable {
        /// The parents of all hosts; none by default.
        package var parents: [Parent] = []
        /// The parents of a host in place of ``parents``, an empty list for none; `nil` from it for those.
        ///
        /// Called with names in lower case.
        package var parentsOfHost: (@Sendable (String) -> [Parent]?)?
        /// Direct by default.
        package var fallback = Fallback.direct
        /// What the edge is called.
        package var name: String
        /// What requests get in `Via` that did not come from a client.
        package var via: String
        /// Called with a parent that does not answer for an origin, and why.
        package var onFailure: @Sendable (Parent, RepriseError) -> Void = { _, _ in }
        /// Of the time for which a parent that cannot be reached is asked last, and one that hangs not at all.
        package var clock = CacheClock.system
        /// How much longer a parent is waited for than an origin; 15 s by default.
        var margin = Duration.seconds(15)

        package init(name: String, via: String) { (self.name, self.via) = (name, via) }
    }

    private let configuration: Configuration
    private let direct: NIOOrigin
    private let policy: NIOOrigin.Configuration
    private let client: NIOOrigin
    private let away: AwayHosts
    /// Those of them that have made requests wait in vain.
    private let hanging: AwayHosts
    private let counts: Mutex<ParentTally>
    /// When each parent last answered, by its authority.
    private let answers = Mutex<[String: Duration]>([:])

    /// Creates an edge whose requests to origins, where parents do not answer for them, go through `direct`.
    package init(_ configuration: Configuration, direct: NIOOrigin.Configuration, group: (any EventLoopGroup)? = nil) {
        self.configuration = configuration
        self.direct = NIOOrigin(configuration: direct, group: group)
        policy = direct
        client = NIOOrigin(configuration: Self.toParents(direct, margin: configuration.margin), group: group)
        away = AwayHosts(clock: configuration.clock)
        hanging = AwayHosts(clock: configuration.clock)
        // Also of those that have not been asked yet.
        var tally = ParentTally()
        for parent in configuration.parents { tally.parents[parent.authority] = ParentTally.Counts() }
        counts = Mutex(tally)
    }

    /// What parents were asked for.
    package var tally: ParentTally { counts.withLock { $0 } }

    /// A parent stands for all origins, so that many requests go to it; it is near, and itself waits for origins.
    private static func toParents(_ direct: NIOOrigin.Configuration, margin: Duration) -> NIOOrigin.Configuration {
        var own = NIOOrigin.Configuration()
        own.connectTimeout = .seconds(2)
        own.responseTimeout = direct.responseTimeout.map { $0 + margin }
        own.idleTimeout = direct.idleTimeout.map { $0 + margin }
        own.timeoutMargin = margin
        own.queueTimeout = direct.queueTimeout
        own.maximumConnectionsPerHost = 256
        own.maximumIdlePerHost = 32
        own.connections = direct.connections
        own.redirectLimit = 0
        own.additionalTrustRoots = direct.additionalTrustRoots
        own.trustedFiles = direct.trustedFiles
        own.userAgent = direct.userAgent
        return own
    }

    /// Closes all connections and waits until they are closed.
    package func shutdown() async {
        await client.shutdown()
        await direct.shutdown()
    }

    /// As ``NIOOrigin/send(_:)``; a response of a parent is that of the origin.
    package func send(_ request: OriginRequest) async throws -> OriginResponse {
        let parents = parents(of: request.url.host)
        guard !parents.isEmpty else { return try await direct.send(request) }
        try policy.check(request.url.host)
        // What changes something must not be sent twice (RFC 9110 §9.2.2): the first parent's word is final.
        guard request.method == .get || request.method == .head else {
            let parent = order(parents, for: request.url)[0]
            let response = try await ask(parent, request)
            return try translated(counted(response, from: parent), of: request)
        }
        var failure: RepriseError?
        for parent in order(parents, for: request.url) where mayWait(for: parent) {
            if failure != nil { note(.parent) }
            let asked = configuration.clock.elapsed()
            do {
                let response = try await ask(parent, request)
                guard let reason = Self.objection(to: response, of: parent) else {
                    return try translated(counted(response, from: parent), of: request)
                }
                response.body.cancel()
                note(.declined, of: parent)
                failure = reason
            } catch let error as RepriseError where Self.losses.contains(error.code) {
                noteLoss(error, of: parent, asked: asked)
                failure = error
            }
            try Task.checkCancellation()
            if let failure { configuration.onFailure(parent, failure) }
        }
        if configuration.fallback == .none, let failure {
            note(.nowhere)
            throw failure
        }
        note(.origin)
        return try await direct.send(request)
    }

    /// The parents that are asked for `host`.
    ///
    /// This machine is another one to a parent that is not on it.
    private func parents(of host: String) -> [Parent] {
        let all = configuration.parentsOfHost?(host) ?? configuration.parents
        return LiteralHost.isThisMachine(host) ? all.filter(\.isOnThisMachine) : all
    }

    /// Those that can be reached and answer first, each group by preference.
    private func order(_ parents: [Parent], for url: ResourceURL) -> [Parent] {
        guard parents.count > 1 else { return parents }
        let ranked = parents.map { (parent: $0, weight: $0.weight(for: url)) }.sorted { $0.weight > $1.weight }
            .map(\.parent)
        return ranked.filter { !away.contains($0.authority) } + ranked.filter { away.contains($0.authority) }
    }

    /// Whether the parent is asked: where the origin can be, one that hangs is tried by one request in 10 seconds.
    ///
    /// A connection that is refused costs no time, so that such a parent is still asked.
    private func mayWait(for parent: Parent) -> Bool {
        configuration.fallback == .none || hanging.claimsTry(of: parent.authority)
    }

    /// Remembers a parent that cannot be reached, or that has answered nothing at all since it was `asked`: it hangs.
    private func noteLoss(_ error: RepriseError, of parent: Parent, asked: Duration) {
        if error.code == .originTimedOut, !(error.cause is ConnectionQueueTimeout) {
            let last = answers.withLock { $0[parent.authority] }
            guard last ?? asked <= asked else { return }
            away.noteFailure(of: parent.authority)
            hanging.noteFailure(of: parent.authority)
        } else {
            away.note(error, from: parent.authority)
        }
    }

    private func ask(_ parent: Parent, _ request: OriginRequest) async throws -> OriginResponse {
        let own = try parent.request(for: request, from: configuration.name, via: configuration.via)
        do {
            let response = try await client.send(own)
            away.noteAnswer(from: parent.authority)
            hanging.noteAnswer(from: parent.authority)
            answers.withLock { $0[parent.authority] = configuration.clock.elapsed() }
            return response
        } catch let error as RepriseError {
            if Self.losses.contains(error.code) { note(.failed, of: parent) }
            throw error
        }
    }

    // MARK: - Counts

    private func note(_ outcome: ParentTally.Outcome, of parent: Parent) {
        change(parent) { $0.requests[outcome, default: 0] += 1 }
    }

    private func note(_ resort: ParentTally.Resort) { counts.withLock { $0.resorts[resort, default: 0] += 1 } }

    private func change(_ parent: Parent, _ body: (inout ParentTally.Counts) -> Void) {
        counts.withLock { body(&$0.parents[parent.authority, default: ParentTally.Counts()]) }
    }

    /// `response`, which counts as the origin's, with a body that is counted as it is read.
    private func counted(_ response: OriginResponse, from parent: Parent) -> OriginResponse {
        note(.answered, of: parent)
        var own = response
        own.body = ParentBody(response.body) { [counts, name = parent.authority] event in
            counts.withLock { tally in
                switch event {
                case .came(let bytes): tally.parents[name, default: ParentTally.Counts()].bytes += Int64(bytes)
                case .broke: tally.parents[name, default: ParentTally.Counts()].brokenBodies += 1
                }
            }
        }
        return own
    }

    /// The response as the origin's: of the URL that answered the parent.
    ///
    /// Throws if that is one that must not be asked.
    private func translated(
        _ response: OriginResponse, of request: OriginRequest
    ) throws(RepriseError) -> OriginResponse {
        var own = response
        own.isTarget = false
        let final = response.head.headerFields[EdgeFields.finalURL].flatMap { try? ResourceURL($0) }
        own.head.headerFields[EdgeFields.finalURL] = nil
        if let final {
            do { try policy.check(final.host) } catch {
                response.body.cancel()
                throw error
            }
        }
        own.url = final ?? request.url
        own.hasLeftHost =
            final.map { $0.scheme != request.url.scheme || $0.authority != request.url.authority } ?? false
        return own
    }

    /// The errors after which another parent, or the origin, is asked.
    private static let losses: Set<RepriseError.Code> = [
        .originNotFound, .originUnreachable, .originNotTrusted, .originTimedOut, .originMisbehaved,
        .originRedirectRefused, .networkUnavailable,
    ]

    /// Why the parent does not answer for the origin; `nil` if it does.
    ///
    /// Every answer for an origin has `Cache-Status`, which the origin's own word about an error is in (`fwd-status`).
    private static func objection(to response: OriginResponse, of parent: Parent) -> RepriseError? {
        let status = response.head.status.code
        let fields = response.head.headerFields
        let member = fields[EdgeFields.cacheStatus]?.split(separator: ",").last
        let isLoop = status == 508
        let isOrigins = member.map { $0.contains("fwd-status=") || $0.contains("; hit") } ?? false
        let isOwnFailure = [502, 503, 504].contains(status) && !isOrigins
        guard member == nil || isLoop || isOwnFailure else { return nil }
        let what =
            isLoop
            ? "\(parent.address) had the request before: it would go around in a loop (508)."
            : "\(parent.address) answered \(status) in place of the origin."
        return RepriseError(.originUnreachable, what)
    }
}

extension NIOOrigin.Configuration {
    /// Throws ``RepriseError`` with code `originForbidden` if `host` must not be asked, nor through another server.
    ///
    /// Where a name points is judged by the one that connects to it, an address here, too.
    fileprivate func check(_ host: String) throws(RepriseError) {
        try checkName(of: host)
        guard let policy = addressPolicy(host) else { return }
        let loopback = LiteralHost.isThisMachine(host) ? AddressBytes(literal: "127.0.0.1") : nil
        if let address = LiteralHost.address(host) ?? loopback, !policy.permits(address) {
            throw RepriseError(.originForbidden, "The host \(host) is at a private address, which may not be asked.")
        }
    }
}

/// Reports the bytes and failures of a parent's response body.
final class ParentBody: OriginBody {
    enum Event: Sendable {
        case came(bytes: Int)
        /// It was truncated, or stalled.
        case broke
    }

    private let body: any OriginBody
    private let note: @Sendable (Event) -> Void

    init(_ body: any OriginBody, note: @escaping @Sendable (Event) -> Void) { (self.body, self.note) = (body, note) }

    func next() async throws -> (any ByteChunk)? {
        do {
            let piece = try await body.next()
            if let piece { note(.came(bytes: piece.count)) }
            return piece
        } catch {
            // A reader that leaves early is not the parent's failure.
            if let error = error as? RepriseError, error.code != .closed { note(.broke) }
            throw error
        }
    }

    func cancel() { body.cancel() }
}
