import HTTPSemantics
import HTTPTypes
import Logging
import NIOCore
import Reprise

/// One request that needs more than a look into the store: opens a read and streams it to the client.
///
/// At most one piece is between the read and the socket: a slow client slows its read, and that its fetch.
struct Exchange: Sendable {
    let head: RequestHead
    let resource: MediaResource
    let service: ProxyService
    let channel: any Channel
    let interim: InterimGate
    private let regionOnItsWay: RegionOnItsWay

    init(
        head: RequestHead, resource: MediaResource, service: ProxyService, channel: any Channel,
        regionOnItsWay: RegionOnItsWay
    ) {
        self.regionOnItsWay = regionOnItsWay
        self.head = head
        self.resource = resource
        self.service = service
        self.channel = channel
        interim = InterimGate(channel, isOpen: head.isHTTP11)
    }

    /// Answers the request.
    ///
    /// Returns whether the connection can take another.
    func run() async -> Bool {
        do {
            do {
                return try await answer()
            } catch let error as RepriseError where error.code == .validatorChanged {
                // Nothing has been sent: what is current now will do as well.
                return try await answer()
            }
        } catch let error as RepriseError {
            return await answer(error)
        } catch {
            return false
        }
    }

    var isHead: Bool { head.method == .head }

    private func answer() async throws -> Bool {
        if case .other(let name) = head.method { return try await forward(name) }
        if isHead { return try await answerHead() }
        let usable = resource.usableInformation(head.directives)
        var ranges = RequestPlan.ranges(head)
        if let usable {
            switch RequestPlan(head, usable) {
            case .notModified: return try await answer(304, usable, CacheStatus(.hit))
            case .preconditionFailed: return try await answer(412, usable, CacheStatus(.hit))
            case .sendParts(let parts):
                let first = try await read(parts[0])
                return try await send(parts, first)
            case .send(let range): ranges = range.map { [$0] } ?? []
            }
        }
        var read = try await read(ranges.first)
        if let usable, RequestPlan.isConditional(head) { try read.mustBe(usable) }
        let mayHaveParts = ranges.count > 1 && read.passedThrough == nil
        if usable == nil, RequestPlan.isConditional(head) || mayHaveParts {
            // What passes through goes out as it came, but for the conditions, which the origin was not told.
            switch RequestPlan(head, mayHaveParts ? ranges : Array(ranges.prefix(1)), read.information) {
            case .notModified: return try await answer(304, read.information, status(of: read))
            case .preconditionFailed: return try await answer(412, read.information, status(of: read))
            case .sendParts(let parts):
                return try await send(parts, parts[0] == ranges[0] ? read : try await self.read(parts[0]))
            case .send(let range):
                if range != ranges.first {
                    let judged = read.information
                    read = try await self.read(range)
                    try read.mustBe(judged)
                }
                ranges = range.map { [$0] } ?? []
            }
        }
        if read.information.completeLength == nil, !ranges.isEmpty, read.passedThrough == nil {
            // No Content-Range can be given while the length is unknown, and players break on `a-b/*`: send all of it.
            ranges = []
            if read.start > 0 || read.end != nil { read = try await self.read(nil) }
        }
        return try await send(read, isPartial: !ranges.isEmpty)
    }

    private func read(_ range: RangeSpec?) async throws -> MediaRead {
        let pass: @Sendable (HTTPResponse) -> Void = { [interim] response in interim.pass(response) }
        return try await resource.read(
            range, fields: service.originFields(head), directives: head.directives,
            onInterim: head.isHTTP11 && head.audience == .player ? pass : nil)
    }

    /// 304 or 412 (RFC 9110 §15.4.5, §15.5.13).
    private func answer(_ code: Int, _ information: ContentInformation, _ status: CacheStatus) async throws -> Bool {
        var buffer = ByteBuffer()
        ResponseHead.writeStatus(code, to: &buffer)
        buffer.writeImmutableBuffer(ResponseHead.commonFields(information, for: head.audience))
        if let age = ResponseHead.age(information, service.wallClock()) { buffer.writeString("Age: \(age)\r\n") }
        buffer.writeString("Cache-Status: \(status)\r\n")
        if code != 304 { buffer.writeString("Content-Length: 0\r\n") }
        try await finish(buffer)
        return head.keepsAlive
    }

    // MARK: - HEAD

    private func answerHead() async throws -> Bool {
        let stored = try await resource.storedAnswer(head.directives, fields: service.originFields(head))
        guard let information = stored else { return try await relayHead() }
        switch RequestPlan(head, information) {
        case .notModified: return try await answer(304, information, CacheStatus(.hit))
        case .preconditionFailed: return try await answer(412, information, CacheStatus(.hit))
        case .send, .sendParts:
            let buffer = ResponseHead.media(
                ResponseHead.commonFields(information, for: head.audience), isPartial: false,
                range: (0, information.completeLength), completeLength: information.completeLength,
                status: CacheStatus(.hit), information: information, keepAlive: head.keepsAlive,
                now: service.wallClock())
            try await finish(buffer)
            return head.keepsAlive
        }
    }

    private func relayHead() async throws -> Bool {
        guard !head.directives.onlyIfCached else {
            throw RepriseError(.notStored, "\(resource.url.redacted) is not stored.")
        }
        let response = judged(try await resource.head(fields: service.originFields(head)))
        let reason = resource.storedInformation == nil ? CacheStatus.ForwardReason.uriMiss : .stale
        try await finish(passedHead(response, status: CacheStatus(.forwarded(reason, status: response.status.code))))
        return head.keepsAlive
    }

    /// What the conditions of the request, which the origin was not told, make of its answer (RFC 9110 §13.2.2).
    private func judged(_ response: HTTPResponse) -> HTTPResponse {
        guard response.status == .ok, RequestPlan.isConditional(head) else { return response }
        var response = response
        switch evaluatePreconditions(head.fields, method: .head, validators: Validators(response.headerFields)) {
        case .notModified: response.status = .notModified
        case .preconditionFailed:
            response.status = .preconditionFailed
            response.headerFields[.contentLength] = "0"
        case .proceed: break
        }
        return response
    }

    // MARK: - Other methods

    /// Passes a request on that the cache has no part in (RFC 9111 §4).
    private func forward(_ method: String) async throws -> Bool {
        guard let method = HTTPRequest.Method(rawValue: method) else {
            throw RepriseError(.invalidArgument, "The method is not a token (RFC 9110 §9.1).")
        }
        let response = try await resource.send(method, fields: service.originFields(head), body: head.body)
        let (isChunked, keepAlive) = framing(response.head)
        let status = CacheStatus(.forwarded(.method, status: response.head.status.code))
        var buffer = passedHead(response.head, status: status, keepAlive: keepAlive)
        if isChunked { buffer.writeStaticString("Transfer-Encoding: chunked\r\n") }
        buffer.writeStaticString("\r\n")
        do {
            try await stream(head: buffer, isChunked: isChunked) {
                guard ResponseHead.mayHaveBody(response.head.status.code) else { return nil }
                return try await response.body.next().map { .memory($0) }
            }
            if !ResponseHead.mayHaveBody(response.head.status.code) { response.body.cancel() }
        } catch {
            response.body.cancel()
            return false
        }
        return keepAlive
    }

    // MARK: - Bodies

    private func send(_ read: MediaRead, isPartial: Bool) async throws -> Bool {
        let status = status(of: read)
        log(read, isPartial ? 206 : 200, status)
        var buffer: ByteBuffer
        let isChunked: Bool
        let keepAlive: Bool
        var hasBody = true
        if let passed = read.passedThrough {
            (isChunked, keepAlive) = framing(passed)
            hasBody = ResponseHead.mayHaveBody(passed.status.code)
            if !hasBody { read.cancel() }
            buffer = passedHead(passed, status: status, keepAlive: keepAlive)
        } else {
            isChunked = read.end == nil && head.isHTTP11
            keepAlive = head.keepsAlive && (read.end != nil || isChunked)
            buffer = ResponseHead.media(
                ResponseHead.commonFields(read.information, for: head.audience), isPartial: isPartial,
                range: (read.start, read.end), completeLength: read.information.completeLength, status: status,
                information: read.information, keepAlive: keepAlive, now: service.wallClock())
            if read.isOwnAnswer {
                for cookie in cookies(read.information.fields) { ResponseHead.write(cookie, to: &buffer) }
            }
        }
        if isChunked { buffer.writeStaticString("Transfer-Encoding: chunked\r\n") }
        buffer.writeStaticString("\r\n")
        let isLive = read.disposition != .hit
        if isLive { UnsentLowWater.set(UnsentLowWater.live, on: channel) }
        defer { if isLive { UnsentLowWater.set(UnsentLowWater.none, on: channel) } }
        // Until the first byte is there an error can still be told with a status of its own.
        var first = hasBody ? try await read.next() : nil
        var mayPause = true
        do {
            try await stream(head: buffer, isChunked: isChunked) {
                guard hasBody else { return nil }
                if let piece = first {
                    first = nil
                    return piece
                }
                if mayPause, read.lastPieceWasStored, read.mustWait {
                    mayPause = false
                    try await pause(read)
                }
                return try await read.next()
            }
        } catch  where error is CancellationError || !channel.isActive {
            return false
        } catch {
            brokenOff(read, error)
            return false
        }
        return keepAlive
    }

    /// Whether the body of a response that is handed on goes out in chunks, and whether the connection stays.
    private func framing(_ response: HTTPResponse) -> (isChunked: Bool, keepAlive: Bool) {
        guard ResponseHead.mayHaveBody(response.status.code) else { return (false, head.keepsAlive) }
        let hasLength = response.headerFields[.contentLength] != nil
        return (!hasLength && head.isHTTP11, head.keepsAlive && (hasLength || head.isHTTP11))
    }

    /// The origin's cookies for this client's jar.
    private func cookies(_ fields: HTTPFields) -> [HTTPField] {
        guard head.audience == .player, fields[.setCookie] != nil,
            let scope = CookieScope(target: head.target, url: resource.url)
        else { return [] }
        return fields[values: .setCookie].compactMap { scope.scoped($0) }
            .map { HTTPField(name: .setCookie, value: $0) }
    }

    /// The head is out: only a broken connection tells the client that the body is not whole (RFC 9112 §8).
    private func brokenOff(_ read: MediaRead, _ error: any Error) {
        read.cancel()
        service.log(.warning, "response broken off", ["url": "\(resource.url.redacted)", "error": "\(error)"])
    }

    /// Waits before the first hole that follows stored bytes: a client that only wanted what is stored leaves meanwhile.
    ///
    /// The more it was given, the longer it can play of it, and the longer it may take to leave.
    private func pause(_ read: MediaRead) async throws {
        let shortest = service.configuration.gracePeriod
        let given = Double(read.servedBytes(from: .store)) / Double(Self.givenForLongestPause)
        try await service.configuration.clock.sleep(shortest * (1 + 9 * min(1, given)))
    }

    /// Stored bytes before a hole for which the pause is ten times the grace period.
    private static let givenForLongestPause: Int64 = 2 << 20

    private func stream(
        head: ByteBuffer, isChunked: Bool, next: () async throws -> MediaPiece?
    ) async throws {
        interim.close()
        var pending = head
        while let piece = try await next() {
            if isChunked { pending.writeString("\(String(piece.count, radix: 16))\r\n") }
            if pending.readableBytes > 0 { channel.write(IOData.byteBuffer(pending), promise: nil) }
            pending = ByteBuffer()
            switch piece {
            case .stored(let region): try await write(region, isChunked: isChunked)
            case .memory(let chunk): try await write(.byteBuffer(service.buffer(of: chunk)), isChunked: isChunked)
            }
        }
        if isChunked { pending.writeStaticString("0\r\n\r\n") }
        if pending.readableBytes > 0 { try await channel.writeAndFlush(IOData.byteBuffer(pending)).get() }
    }

    /// Returns when the kernel has the region; until then eviction keeps off its bytes.
    private func write(_ region: StoredRegion, isChunked: Bool) async throws {
        // The event loop, which calls `sendfile`, must not wait for the disk.
        if !region.isResident { await service.warm(region) }
        let file = RegionFile(region)
        regionOnItsWay.set(region)
        defer { regionOnItsWay.set(nil) }
        do {
            try await write(.fileRegion(file.region), isChunked: isChunked)
        } catch {
            if error.isOfDisk { region.reportUnreadable() }
            throw error
        }
        withExtendedLifetime(file) {}
    }

    private func write(_ body: IOData, isChunked: Bool) async throws {
        guard isChunked else { return try await channel.writeAndFlush(body).get() }
        channel.write(body, promise: nil)
        try await channel.writeAndFlush(IOData.byteBuffer(ByteBuffer(string: "\r\n"))).get()
    }

    /// Sends the rest of a response whose head and beginning are out: `range` of the representation that `generation`
    /// names.
    func sendRest(_ range: Range<Int64>, of generation: String) async -> Bool {
        interim.close()
        do {
            let read = try await read(.bounded(range))
            do {
                guard read.information.generation == generation, read.start == range.lowerBound,
                    read.end == range.upperBound
                else {
                    throw RepriseError(.validatorChanged, "The file changed before the end of the response.")
                }
                try await stream(head: ByteBuffer(), isChunked: false) { try await read.next() }
                return head.keepsAlive
            } catch {
                brokenOff(read, error)
            }
        } catch {
            service.log(.warning, "response broken off", ["url": "\(resource.url.redacted)", "error": "\(error)"])
        }
        return false
    }

    // MARK: - Several ranges

    /// Sends `parts` as multipart/byteranges, in the order in which they were asked for (RFC 9110 §15.3.7.2).
    ///
    /// `first` is a read of the first one.
    private func send(_ parts: [RangeSpec], _ first: MediaRead) async throws -> Bool {
        let information = first.information
        let length = information.completeLength ?? 0
        let ranges = parts.compactMap { $0.resolve(completeLength: length) }
        guard ranges.count == parts.count, canJoin(parts, information) else {
            first.cancel()
            return try await send(try await read(nil), isPartial: false)
        }
        let multipart = Multipart(ranges, information, length)
        let status = status(of: first)
        log(first, 206, status)
        var buffer = ResponseHead.multipart(
            multipart, information, for: head.audience, status: status, keepAlive: head.keepsAlive,
            now: service.wallClock())
        var read = first
        // Until the first byte is there an error can still be told with a status of its own.
        var piece = try await first.next()
        do {
            for (index, part) in parts.enumerated() {
                if index > 0 {
                    read = try await self.read(part)
                    guard read.information.generation == information.generation else {
                        throw RepriseError(.validatorChanged, "The file changed between two parts.")
                    }
                }
                buffer.writeString(multipart.heads[index])
                let current = read
                try await stream(head: buffer, isChunked: false) {
                    if let first = piece {
                        piece = nil
                        return first
                    }
                    return try await current.next()
                }
                buffer = ByteBuffer()
            }
            try await channel.writeAndFlush(IOData.byteBuffer(ByteBuffer(string: multipart.end))).get()
        } catch {
            brokenOff(read, error)
            return false
        }
        return head.keepsAlive
    }

    /// Whether reads one after the other are sure to give parts of one representation: a strong validator joins them
    /// (RFC 9110 §15.3.7.3), or all of them are stored.
    private func canJoin(_ parts: [RangeSpec], _ information: ContentInformation) -> Bool {
        guard !information.generation.isEmpty else { return false }
        return information.validators.ifRangeValue != nil
            || parts.allSatisfy { resource.storedRegion($0)?.information.generation == information.generation }
    }

    private func status(of read: MediaRead) -> CacheStatus {
        let isStored = read.originStatus != 304
        func forwarded(_ reason: CacheStatus.ForwardReason) -> CacheStatus.Handling {
            .forwarded(reason, status: read.originStatus)
        }
        switch read.disposition {
        case .hit:
            let now = HTTPDate(secondsSince1970: Int64(service.wallClock()))
            let left = read.information.freshness.map { -$0.staleness(now: now) }
            return CacheStatus(.hit, isCollapsed: read.isCollapsed, timeToLive: left.flatMap { $0 < 0 ? $0 : nil })
        case .validated: return CacheStatus(forwarded(read.forwarded ?? .stale))
        case .partial: return CacheStatus(forwarded(.partial), isStored: true, isCollapsed: read.isCollapsed)
        case .miss: return CacheStatus(forwarded(.miss), isStored: true, isCollapsed: read.isCollapsed)
        case .unknown:
            return CacheStatus(
                forwarded(read.forwarded ?? .uriMiss), isStored: isStored, isCollapsed: read.isCollapsed)
        case .bypass: return CacheStatus(forwarded(read.forwarded ?? .bypass))
        }
    }

    /// The origin's head as it came, but for what belongs to its hop.
    private func passedHead(_ response: HTTPResponse, status: CacheStatus, keepAlive: Bool? = nil) -> ByteBuffer {
        var buffer = ByteBuffer()
        ResponseHead.writeStatus(response.status.code, to: &buffer)
        var fields = response.headerFields.endToEnd.handedOn(to: head.audience)
        fields[fields: .setCookie] = cookies(fields)
        ResponseHead.frame(&fields, status: response.status.code)
        fields.append(status)
        fields.addOwn(receivedAt: Int64(service.wallClock()))
        for field in fields { ResponseHead.write(field, to: &buffer) }
        head.audience.writeGuards(beside: fields, to: &buffer)
        if !(keepAlive ?? head.keepsAlive) { buffer.writeStaticString("Connection: close\r\n") }
        return buffer
    }

    private func finish(_ buffer: ByteBuffer) async throws {
        interim.close()
        var buffer = buffer
        buffer.writeStaticString("\r\n")
        try await channel.writeAndFlush(IOData.byteBuffer(buffer)).get()
    }

    private func log(_ read: MediaRead, _ code: Int, _ status: CacheStatus) {
        service.log(
            .info, "request",
            [
                "method": "\(isHead ? "HEAD" : "GET")", "url": "\(resource.url.redacted)",
                "range": "\(head.value("range") ?? "-")",
                "status": "\(read.passedThrough?.status.code ?? code)", "cache": "\(status)",
            ])
    }
}

extension MediaRead {
    /// Ends the read, with an error, if it is not of the representation for which the conditions were judged.
    fileprivate func mustBe(_ judged: ContentInformation) throws {
        let isSame =
            information.generation == judged.generation
            && (!judged.generation.isEmpty || information.validators == judged.validators)
        guard !isSame else { return }
        cancel()
        throw RepriseError(.validatorChanged, "The file changed after the request's conditions were judged.")
    }

    /// Whether the response came to this reader's own request, and to no other's.
    fileprivate var isOwnAnswer: Bool {
        switch disposition {
        case .bypass: true
        case .unknown: !isCollapsed
        case .hit, .validated, .partial, .miss: false
        }
    }
}
