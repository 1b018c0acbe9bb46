import Foundation
import HTTPSemantics
import HTTPTypes
import Logging
import Reprise

/// The parts shared by all answers to one request: the request, the file, and the connection to the client.
struct AnswerContext: Sendable {
    let request: MediaRequest
    let resource: MediaResource
    /// How the file is treated because a playlist lists it.
    let listed: ListedFile?
    let writer: ResponseWriter
    /// When the player gives up, by the clock that measures delays; `nil` for players that wait.
    private let deadline: Duration?

    /// Time after which AVPlayer is told to ask again: it counts a segment whose head does not come within some three
    /// seconds as failed, and three such segments end the playback.
    private static let patience = Duration.seconds(2)

    init(request: MediaRequest, resource: MediaResource, listed: ListedFile?, writer: ResponseWriter) {
        (self.request, self.resource, self.listed, self.writer) = (request, resource, listed, writer)
        if case .stored(let role) = listed, role.kind == .segment, request.head.isFromAVPlayer {
            deadline = writer.service.configuration.clock.elapsed() + Self.patience
        } else {
            deadline = nil
        }
    }

    var head: ClientHead { request.head }
    var service: ProxyService { writer.service }
    var filter: any BodyFilter { service.filter(for: head.audience) }

    /// Answers a request that may have to wait for the disk or the origin; a GET as `plan` says, if there is one.
    ///
    /// Returns whether the connection can take another request.
    func answer(by plan: RequestPlan?) async -> Bool {
        do {
            do {
                return try await answerOnce(by: plan)
            } catch let error as RepriseError where error.code == .validatorChanged {
                // Nothing has been sent, so the current representation can be sent instead.
                return try await answerOnce(by: nil)
            }
        } catch let error as RepriseError {
            service.configuration.items?.note(error)
            return await ErrorAnswer(context: self, error: error).send()
        } catch {
            return false
        }
    }

    private func answerOnce(by plan: RequestPlan?) async throws -> Bool {
        try await service.contentFeatures.complete(for: self)
        switch head.method {
        case .get where listed == .key: return try await KeyAnswer(context: self).send()
        case .get, .options:
            if let live = LiveEdgeAnswer(self) { return try await live.send() }
            return try await MediaAnswer(context: self, plan: plan ?? self.plan(filter: filter), filter: filter).send()
        case .head: return try await HeadAnswer(context: self).send()
        case .other(let name): return try await ForwardAnswer(context: self).send(name)
        }
    }

    /// The plan for the request with what is known now.
    func plan(filter: any BodyFilter) -> RequestPlan { RequestPlan(request, to: resource, filter: filter) }

    /// Fields for the origin: the client's, and for a program the cookies that a playlist set for the files it names.
    var originFields: HTTPFields {
        let fields = head.originFields
        guard head.audience == .player, listed != nil || !resource.titles.isEmpty else { return fields }
        return service.streams.cookies?.adding(to: fields, for: resource.url) ?? fields
    }

    /// Keeps the cookies that a playlist sets for the files that it names.
    func takeCookies(of playlist: ContentInformation) {
        if head.audience == .player { service.streams.cookies?.take(playlist, at: resource.url) }
    }

    /// The stored response that answers the request, if it is in memory.
    var stored: StoredContent? { resource.storedInMemory(fields: originFields) }

    /// Begins a read for the request.
    func read(_ range: RangeSpec?) async throws -> MediaRead {
        let pass: @Sendable (HTTPResponse) -> Void = { [interim = writer.interim] response in interim.pass(response) }
        return writer.measured(
            try await resource.read(
                range, fields: originFields, directives: request.directives,
                onInterim: head.isHTTP11 && head.audience.isProgram ? pass : nil))
    }

    /// Begins a read for the request that breaks off at the first hole, where the origin must not be asked.
    func readStoredBeginning(of range: RangeSpec) async throws -> MediaRead {
        writer.measured(
            try await resource.readStoredBeginning(
                of: range, fields: originFields, directives: request.directives))
    }

    /// Sends 503, because too many bodies and texts are in memory; returns whether the connection can take another
    /// request.
    func refuseText() async -> Bool {
        let answer = OwnAnswer(
            status: 503, fields: [("Retry-After", "1"), cacheStatus(.unanswered, detail: "memory")],
            text: "Too many large playlists are being sent; ask again in a moment.\n")
        do {
            try await writer.write(answer.buffer(to: head))
            return head.keepsAlive
        } catch {
            return false
        }
    }

    /// The first bytes of the file that are stored, which are not given to the client.
    func storedBeginning(atMost count: Int64) async throws -> [UInt8] {
        try await resource.storedBeginning(atMost: count, fields: originFields)
    }

    /// Runs `wait`, before anything is sent, for as long as the player is patient.
    ///
    /// The origin is not: a request that was sent goes on, so that the player's next one finds its response.
    func promptly<T: Sendable>(_ wait: @escaping @Sendable () async throws -> T) async throws -> T {
        guard let deadline else { return try await wait() }
        let clock = service.configuration.clock
        return try await withThrowingTaskGroup(of: T.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await wait() }
            group.addTask {
                try await clock.sleep(max(.zero, deadline - clock.elapsed()))
                throw RepriseError(.originTimedOut, "The origin did not answer in time for the player.")
            }
            guard let result = try await group.next() else { throw CancellationError() }
            return result
        }
    }

    /// Sends a response without bytes of the representation.
    func send(
        _ content: MediaResponse.Content, of information: ContentInformation, status: CacheStatus
    ) async throws -> Bool {
        let response = response(content, of: information, status: status)
        try await writer.write(response.head())
        return response.framing.keepsAlive
    }

    /// The head of a response made from a representation.
    func response(
        _ content: MediaResponse.Content, of information: ContentInformation, status: CacheStatus,
        cookies: [HTTPField] = []
    ) -> MediaResponse {
        let lines = RepresentationFields.lines(
            of: information, for: head.audience, by: head.serverName, status: status, cookies: cookies)
        return MediaResponse(content, to: head, information: information, lines: lines, now: service.wallClock())
    }

    /// `Cache-Status` of an answer without a stored response.
    func cacheStatus(_ handling: CacheStatus.Handling, detail: String? = nil) -> (String, String) {
        var status = CacheStatus(handling, detail: detail)
        status.name = head.serverName
        return ("Cache-Status", "\(status)")
    }

    /// How `read` was answered, as the client is told.
    func outcome(of read: MediaRead) -> CacheOutcome { CacheOutcome(of: read, now: service.wallClock()) }

    /// An origin's response as it is sent to the client.
    func passed(
        _ response: HTTPResponse, status: CacheStatus, cookies: [HTTPField], from url: ResourceURL? = nil
    ) -> PassedResponse {
        PassedResponse(
            response, to: head, status: status, cookies: cookies, from: url, receivedAt: Int64(service.wallClock()))
    }

    /// The cookies of a stored playlist that last, scoped for this client's jar: its one user may have them again (RFC
    /// 9111 §3.1).
    func storedCookies(_ playlist: ContentInformation) -> [HTTPField] {
        guard !service.cache.isShared else { return [] }
        let arrival = playlist.responseTime?.timeIntervalSince1970
        let age = arrival.map { max(0, Int64(service.wallClock() - $0)) } ?? 0
        var fields = HTTPFields()
        for value in playlist.fields[values: .setCookie] {
            guard let value = CookieScope.remaining(value, after: age) else { continue }
            fields.append(HTTPField(name: .setCookie, value: value))
        }
        return cookies(fields, from: playlist.finalURL)
    }

    /// The cookies of a response, scoped for this client's jar.
    ///
    /// `final` is the URL after redirects, or `nil` for the requested URL.
    func cookies(_ fields: HTTPFields, from final: ResourceURL?) -> [HTTPField] {
        if head.audience == .edge { return Array(fields[fields: .setCookie]) }
        guard head.audience == .player, !head.isFromDevice, fields[.setCookie] != nil else { return [] }
        let url = final ?? resource.url
        let target = url == resource.url ? head.target : ProxyLinks.path("\(url)", prefix: head.pathPrefix)
        guard let scope = CookieScope(target: target, url: url) else { return [] }
        return fields[values: .setCookie].compactMap { scope.scoped($0) }
            .map { HTTPField(name: .setCookie, value: $0) }
    }

    /// Logs a failure after the head was sent; only a broken connection tells the client that the body is incomplete
    /// (RFC 9112 §8).
    func noteBrokenOff(_ error: any Error) {
        if let error = error as? RepriseError { service.noteFailure(error) }
        service.log(.warning, "response broken off", ["url": "\(resource.url.redacted)", "error": "\(error)"])
    }

    func log(_ status: Int, cache: CacheStatus) {
        service.log(request, resource: resource, status: status, cache: "\(cache)")
    }
}
