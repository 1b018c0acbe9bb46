import HTTPSemantics
import NIOCore
import Primitives
import Reprise

/// The answer to a request for control: JSON, or events as they happen.
struct ControlAnswer: Sendable {
    let request: ControlRequest
    let writer: ResponseWriter

    private var service: ProxyService { writer.service }
    private var head: ClientHead { request.head }
    private var isHead: Bool { head.method == .head }

    /// Bytes from which on an answer is claimed from the budget for texts in memory.
    private static let large = 64 << 10

    /// How often listeners get the status.
    private static let statusInterval = Duration.seconds(2)

    /// Returns whether the connection can take another request.
    func send() async -> Bool {
        do {
            do {
                return try await answer()
            } catch let failure as ControlFailure {
                return try await send(failure)
            } catch let error as RepriseError {
                return try await send(ControlFailure(500, error.message, code: "\(error.code)"))
            }
        } catch {
            return false
        }
    }

    private func answer() async throws -> Bool {
        guard head.body.count <= request.largestBody else {
            throw ControlFailure(413, "A body has at most \(request.largestBody) bytes.")
        }
        if let document = request.document {
            // The list of titles takes a moment, and the page will ask for it.
            if document.listsTitles { _ = await service.catalog.overview(nil) }
            return try await write(document.answer(to: head, at: service.wallClock()))
        }
        let target = try ControlTarget(request.target[...])
        switch target.path {
        case "status.json":
            try expect(["GET", "HEAD"], of: target)
            await service.control.peers?.know()
            return try await send(200, JSONText.line(StatusReport(of: service)))
        case "sums.json":
            try expect(["GET", "HEAD"], of: target)
            return try await send(200, JSONText.line(ServerSums(of: service)))
        case ControlTarget.metrics:
            try expect(["GET", "HEAD"], of: target)
            return try await sendMetrics()
        case "titles.json":
            try expect(["GET", "HEAD"], of: target, parameters: TitlesReport.Query.parameters)
            let titles = try await TitlesReport(TitlesReport.Query(target), of: service)
            return try await send(200, JSONText.line(titles))
        case "title.json":
            try expect(["GET", "HEAD"], of: target, parameters: ["id"])
            let title = try await TitleDetails(id: target.value("id") ?? "", of: service)
            guard let title else { throw ControlFailure.unknownTitle }
            return try await send(200, JSONText.line(title))
        case "picture":
            try expect(["GET", "HEAD"], of: target, parameters: ["id"])
            guard let title = try await service.cache.reference(id: target.value("id") ?? ""),
                let picture = service.pictures?.picture(of: title.key)
            else { throw ControlFailure(404, "There is no picture.", code: "unknownPicture") }
            return try await send(picture, after: beginning(200, type: "image/jpeg"))
        case "titles.m3u":
            try expect(["GET", "HEAD"], of: target, parameters: TitlesReport.Query.filters)
            let query = try TitlesReport.Query(target, usualOrder: .name)
            // Players do not show a password or a Bearer token again for the addresses in a playlist.
            let token = head.sender?.holder.token
            let server = service.address(for: head, showing: (token?.forPlayers ?? token)?.text)
            let playlist = try await TitlesPlaylist.text(query, of: service, at: server)
            return try await send(Array(playlist.utf8), after: beginning(200, type: TitlesPlaylist.mediaType))
        case "history.json":
            try expect(["GET", "HEAD"], of: target)
            return try await send(200, JSONText.line(["days": await service.cache.dailyTraffic()]))
        case "play":
            try expect(["GET", "HEAD"], of: target, parameters: ["id"])
            return try await sendToTitle(target.value("id") ?? "")
        case "events":
            try expect(["GET"], of: target)
            return try await sendEvents()
        case "server.json":
            try expect(["GET", "HEAD"], of: target)
            return try await send(200, JSONText.line(ServerReport(of: service, isLocal: request.isLocal)))
        case LogLevelCommand.name where service.configuration.logLevel != nil:
            try expect(["POST"], of: target)
            return try await changeLogLevel()
        default:
            guard let operation = service.configuration.controlOperations.first(where: { $0.name == target.path })
            else { throw ControlFailure(404, "There is nothing under this path.", code: ControlFailure.unknownPath) }
            try expect(["POST"], of: target)
            return try await perform(operation)
        }
    }

    // MARK: - Operations

    /// What the body says; throws a failure if it is no JSON of `type`.
    private func command<Command: ControlCommand>(_ type: Command.Type) throws -> Command {
        // Forms of web pages cannot send it; browsers ask before scripts of other sites do.
        // Spaces may stand before the semicolon (RFC 9110 §5.6.6).
        let mediaType = head.value("content-type")?.prefix { !"; \t".contains($0) }
        guard mediaType?.lowercased() == "application/json" else {
            throw ControlFailure(415, "\(type.name) takes JSON: Content-Type: application/json.")
        }
        return try type.parse(head.body)
    }

    private func perform<Operation: ControlOperation>(_ type: Operation.Type) async throws -> Bool {
        let operation = try command(type)
        let stream = ControlStream(writer: writer, isChunked: head.isHTTP11)
        let answer = OperationAnswer(operation: operation, stream: stream) { status in
            var buffer = beginning(status, type: "application/jsonl")
            Framing(isChunked: stream.isChunked, keepsAlive: false).write(to: &buffer)
            buffer.writeStaticString("\r\n")
            return buffer
        }
        try await answer.send(for: service)
        return false
    }

    private func changeLogLevel() async throws -> Bool {
        let command = try command(LogLevelCommand.self)
        do {
            let outcome = try await service.changeLogLevel(command)
            return try await send(200, JSONText.line(ControlLine<LogLevelCommand>.outcome(outcome)))
        } catch let error as RepriseError where error.code == .invalidArgument {
            throw ControlFailure(400, error.message, code: "\(error.code)")
        }
    }

    /// Leads a player to the title with that identifier, whose URL may have a query that the page does not know.
    private func sendToTitle(_ id: String) async throws -> Bool {
        guard let title = try await service.cache.reference(id: id) else { throw ControlFailure.unknownTitle }
        return try await send(307, [], fields: [("Location", title.url.through(head.pathPrefix))])
    }

    /// Throws unless the method is one of `methods`, and each parameter one of `parameters`.
    private func expect(
        _ methods: [String], of target: ControlTarget, parameters: [String] = []
    ) throws(ControlFailure) {
        guard methods.contains(request.method) else {
            var failure = ControlFailure(405, "\(target.path) takes \(methods.joined(separator: ", ")).")
            failure.allowed = methods
            throw failure
        }
        if let parameter = target.parameters.first(where: { !parameters.contains($0.name) }) {
            throw ControlFailure(400, "\(target.path) takes no parameter \"\(parameter.name.prefix(32))\".")
        }
    }

    // MARK: - JSON

    private func send(_ failure: ControlFailure) async throws -> Bool {
        var fields = failure.retryAfter.map { [("Retry-After", "\($0)")] } ?? []
        if !failure.allowed.isEmpty { fields.append(("Allow", failure.allowed.joined(separator: ", "))) }
        return try await send(failure.status, JSONText.line(failure.body), fields: fields)
    }

    private func send(_ status: Int, _ body: [UInt8], fields: [(String, String)] = []) async throws -> Bool {
        try await send(body + [UInt8(ascii: "\n")], after: beginning(status, type: "application/json", fields: fields))
    }

    /// Sends a whole answer, whose head begins with `beginning`.
    private func send(_ body: [UInt8], after beginning: ByteBuffer) async throws -> Bool {
        // Clients that read slowly must not fill the memory.
        let budget = service.texts.budget
        guard body.count < Self.large || budget.claim(body.count, beside: 0) else {
            var failure = ControlFailure(503, "Too many large answers are being sent.", code: "busy")
            failure.retryAfter = 1
            throw failure
        }
        defer { if body.count >= Self.large { budget.release(body.count) } }
        var buffer = beginning
        buffer.writeLine("Content-Length: ", number: Int64(body.count))
        Framing(isChunked: false, keepsAlive: head.keepsAlive).write(to: &buffer)
        buffer.writeStaticString("\r\n")
        if !isHead { buffer.writeBytes(body) }
        return try await write(buffer)
    }

    private func write(_ buffer: ByteBuffer) async throws -> Bool {
        try await writer.write(buffer)
        return head.keepsAlive
    }

    /// Sends the metrics, in the format that the client likes best.
    private func sendMetrics() async throws -> Bool {
        let format = MetricsFormat(accept: head.value("accept"))
        let figures = try await MetricFigures(of: service)
        let text = MetricsText.text(figures.families, as: format)
        return try await send(
            Array(text.utf8), after: beginning(200, type: format.mediaType, fields: [("Vary", "Accept")]))
    }

    /// The beginning of a head.
    ///
    /// No page of another site reads the answer, not even one that may read media.
    private func beginning(_ status: Int, type: StaticString, fields: [(String, String)] = []) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeStatusLine(status)
        buffer.writeString("Date: \(HTTPDate(secondsSince1970: Int64(service.wallClock())))\r\n")
        buffer.writeString("Content-Type: \(type)\r\nCache-Control: no-store\r\n")
        for (name, value) in fields { buffer.writeString("\(name): \(value)\r\n") }
        Audience.browser.writeGuards(beside: [:], to: &buffer)
        return buffer
    }

    // MARK: - Events

    private func sendEvents() async throws -> Bool {
        guard let subscription = service.control.events.subscribe() else {
            var failure = ControlFailure(503, "There are too many listeners.", code: "busy")
            failure.retryAfter = 10
            throw failure
        }
        var isCut = false
        let stream = ControlStream(writer: writer, isChunked: head.isHTTP11)
        do {
            var beginning = beginning(200, type: "text/event-stream")
            Framing(isChunked: stream.isChunked, keepsAlive: false).write(to: &beginning)
            beginning.writeStaticString("\r\n")
            try await stream.begin(beginning)
            try await stream.send(status())
            try await follow(subscription.events, into: stream)
            isCut = service.control.events.unsubscribe(subscription)
        } catch {
            _ = service.control.events.unsubscribe(subscription)
            throw error
        }
        if isCut { try await stream.send(EventFeed.text("cut", Cut(words: Cut.words))) }
        try await stream.end()
        return false
    }

    /// Why a listener gets no more events.
    private struct Cut: Encodable {
        let words: String

        static let words = "You read too slowly: events were lost. Connect again."
    }

    private func status() async throws -> ByteBuffer {
        try EventFeed.text("status", await StatusReport(of: service))
    }

    /// Sends `events` until they end, and the status now and then.
    private func follow(_ events: AsyncStream<ByteBuffer>, into stream: ControlStream) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { for await event in events { try await stream.send(event) } }
            group.addTask {
                while true {
                    try await service.configuration.clock.sleep(Self.statusInterval)
                    try await stream.send(try await status())
                }
            }
            try await group.next()
        }
    }
}
