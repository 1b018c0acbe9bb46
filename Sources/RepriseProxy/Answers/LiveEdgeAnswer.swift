import HTTPSemantics
import HTTPTypes
import Logging
import NIOCore
import Reprise

/// The answer to a GET at the live edge of a stream: a playlist that the origin may hold back, a delta update, a part,
/// or what a preload hint names.
///
/// Nothing is stored. Requests for the same are collapsed, bytes are sent as they come, and an error is never replaced
/// by an older playlist (rfc8216bis §6.2.5, §B.1).
struct LiveEdgeAnswer {
    /// Shortest time for which the origin may hold a request.
    private static let shortestPatience = Duration.seconds(40)

    private let context: AnswerContext
    private let rules: KeepingRules
    private let longestSilence: Duration

    /// `nil` if the request is for something else.
    init?(_ context: AnswerContext) {
        let (service, url) = (context.service, context.resource.url)
        let streams = service.streams.view(for: context.head)
        let subject: KeepingRules.Subject
        let targetDuration: Duration?
        var isHint = false
        if url.hasDeliveryDirectives {
            subject = .playlist
            targetDuration = streams.targetDuration(of: url)
        } else if let place = streams.place(of: url) {
            subject = .part
            targetDuration = place.targetDuration
            isHint = place.isHint
        } else if context.listed == .growing {
            subject = .part
            targetDuration = nil
        } else {
            return nil
        }
        self.context = context
        rules = KeepingRules(subject: subject, isShared: service.cache.isShared, targetDuration: targetDuration)
        // Three target durations, the way to the origin and back, and for a hint the part that comes before it.
        let held = (targetDuration ?? .zero) * (isHint ? 6 : 3)
        longestSilence = max(Self.shortestPatience, held + .seconds(10))
    }

    /// Returns whether the connection can take another request.
    ///
    /// Throws only while nothing has been sent.
    func send() async throws -> Bool {
        do {
            return try await answer()
        } catch let error as RepriseError {
            return await refuse(error)
        } catch is SharedTexts.Overfull {
            return await context.refuseText()
        }
    }

    private func answer() async throws -> Bool {
        let (reader, part, head) = try await reader()
        defer { reader.leave() }
        let status = status(part, head: head)
        if head.response.status == .ok, let editor = editor(of: head) {
            return try await sendText(of: reader, head: head, editor: editor, status: status, part: part)
        }
        return try await pass(head, pieces: [], reader: reader, status: status, part: part)
    }

    // MARK: - The response

    /// A place in the response that answers this request, and its head.
    private func reader() async throws -> (SharedReader, SharedExchanges.Part, SharedExchange.Head) {
        let fields = context.originFields
        let range = rules.subject == .part ? context.request.ranges.first : nil
        let ifRange = range == nil ? nil : context.head.ifRange
        let key = SharedExchanges.Key(context.resource.url, range: range, ifRange: ifRange, fields: fields)
        let (resource, longestSilence) = (context.resource, longestSilence)
        let ask: @Sendable () async throws -> OriginResponse = {
            try await resource.bypass(range, fields: fields, ifRange: ifRange, longestSilence: longestSilence)
        }
        let exchanges = context.service.liveExchanges
        let (reader, part) = exchanges.reader(of: key, fields: fields, rules: rules, ask: ask)
        do {
            let head = try await reader.head()
            if part == .leads || rules.mayShare(head, askedWith: reader.exchange.fields, by: fields) {
                return (reader, part, head)
            }
        } catch let error as RepriseError where part != .leads && error.code != .closed {
            // What kept another client's request from being answered may not concern this one.
            reader.leave()
        }
        let own = exchanges.reader(fields: fields, ask: ask)
        return (own, .leads, try await own.head())
    }

    private func status(_ part: SharedExchanges.Part, head: SharedExchange.Head) -> CacheStatus {
        let forwarded = CacheStatus.Handling.forwarded(.uriMiss, status: head.response.status.code)
        return switch part {
        case .leads: CacheStatus(forwarded)
        case .collapsed: CacheStatus(forwarded, isCollapsed: true)
        case .kept: CacheStatus(.hit)
        }
    }

    // MARK: - Playlists

    private func information(_ head: SharedExchange.Head) -> ContentInformation {
        var information = ContentInformation(
            response: head.response, completeLength: nil, rangesSupported: nil,
            finalURL: head.url == context.resource.url ? nil : head.url)
        information.freshness = rules.freshness(of: head)
        return information
    }

    private func editor(of head: SharedExchange.Head) -> (any BodyEditor)? {
        guard rules.subject == .playlist else { return nil }
        let information = information(head)
        if information.contentCoding != nil { context.filter.noteCoded(information, at: context.resource.url) }
        return context.filter.editorOfText(information, at: context.resource.url)
    }

    private func sendText(
        of reader: SharedReader, head: SharedExchange.Head, editor: any BodyEditor, status: CacheStatus,
        part: SharedExchanges.Part
    ) async throws -> Bool {
        let information = information(head)
        let (text, pieces) = try await text(of: reader, head, editor: editor, part: part)
        guard let text else { return try await pass(head, pieces: pieces, reader: reader, status: status, part: part) }
        let edited = EditedText(text, inPlaceOf: information)
        context.takeCookies(of: information)
        let cookies = part == .leads ? context.cookies(information.fields, from: head.url) : []
        return try await MemoryAnswer(
            context: context, text: text, information: edited.information, status: status, cookies: cookies
        ).send()
    }

    /// The text in place of the response; if there is none, the pieces that were taken from `reader`.
    private func text(
        of reader: SharedReader, _ head: SharedExchange.Head, editor: any BodyEditor, part: SharedExchanges.Part
    ) async throws -> (text: HeldBytes?, pieces: [any ByteChunk]) {
        let texts = context.service.texts
        let (held, isWhole) = try await texts.gather(atMost: editor.maximumLength, expecting: nil) {
            try await reader.next()
        }
        let taken = [HeldSlice(of: held, 0..<Int64(held.bytes.count))]
        guard isWhole else { return (nil, taken) }
        let body = GatheredBody(
            bytes: held.bytes, information: information(head), resource: context.resource,
            prefix: context.head.pathPrefix, host: context.head.value("host"),
            scheme: context.service.configuration.scheme,
            requester: context.service.streams.requester(of: context.head),
            isForEveryone: rules.mayServeEveryone(head, askedWith: reader.exchange.fields))
        let text: [UInt8]?
        do { text = try await editor.edit(body) } catch is UneditedBody { text = nil }
        guard let text else { return (nil, taken) }
        noteServed(Int64(held.bytes.count), as: part)
        return (try texts.held(text), [])
    }

    // MARK: - Anything else

    /// Sends the response as it came: `pieces`, then what `reader` still brings.
    private func pass(
        _ head: SharedExchange.Head, pieces: [any ByteChunk], reader: SharedReader, status: CacheStatus,
        part: SharedExchanges.Part
    ) async throws -> Bool {
        var response = head.response
        let now = HTTPDate(secondsSince1970: Int64(context.service.wallClock()))
        let age = rules.freshness(of: head).currentAge(now: now)
        if part == .kept || response.headerFields[.age] != nil { response.headerFields[.age] = "\(age)" }
        let cookies = part == .leads ? context.cookies(response.headerFields, from: head.url) : []
        let passed = PassedResponse(
            response, to: context.head, status: status, cookies: cookies, from: head.url,
            receivedAt: Int64(head.responseTime))
        context.log(response.status.code, cache: status)
        var gathered = pieces.makeIterator()
        var count: Int64 = 0
        defer { noteServed(count, as: part) }
        do {
            try await context.writer.stream(head: passed.head, isChunked: passed.framing.isChunked) {
                guard passed.mayHaveBody else { return nil }
                let piece = if let first = gathered.next() { first } else { try await reader.next() }
                count += Int64(piece?.count ?? 0)
                return piece.map { .memory($0) }
            }
        } catch {
            if !(error is CancellationError), context.writer.channel.isActive { context.noteBrokenOff(error) }
            return false
        }
        return passed.framing.keepsAlive
    }

    private func noteServed(_ count: Int64, as part: SharedExchanges.Part) {
        let source: PieceSource = part == .leads ? .origin : .joined
        context.service.cache.noteServed(
            reads: 1, bytes: count, from: source, of: context.resource.url.authority)
        var served = SourceBytes()
        served[source] = count
        context.writer.meter.note(served, first: count > 0 ? source : nil)
    }

    // MARK: - Errors

    /// The answer to a request that failed before anything was sent.
    ///
    /// Players try again after 503; other statuses end the playback.
    private func refuse(_ error: RepriseError) async -> Bool {
        switch error.code {
        case .originUnreachable, .originNotFound, .originTimedOut, .originBodyTruncated, .originMisbehaved,
            .networkUnavailable:
            let cache = context.cacheStatus(.forwarded(.uriMiss), detail: "\(error.code)")
            let answer = OwnAnswer(
                status: 503, fields: [("Retry-After", "1"), cache], text: "\(error.message)\n")
            context.service.log(
                .notice, "request failed",
                ["url": "\(context.resource.url.redacted)", "code": "\(error.code)", "error": "\(error.explanation)"])
            do {
                try await context.writer.write(answer.buffer(to: context.head))
                return context.head.keepsAlive
            } catch {
                return false
            }
        default: return await ErrorAnswer(context: context, error: error).send()
        }
    }
}
