import HTTPSemantics
import HTTPTypes
import NIOCore
import Reprise

/// The answer to a GET that needs more than a lookup in memory: a read, streamed to the client.
struct MediaAnswer {
    /// Number of stored bytes before a hole for which the pause is ten times the grace period.
    private static let bytesForLongestPause: Int64 = 2 << 20

    let context: AnswerContext

    /// Returns whether the connection can take another request.
    ///
    /// Throws only while nothing has been sent.
    func send() async throws -> Bool {
        let (request, resource) = (context.request, context.resource)
        let usable = resource.usableInformation(request.directives)
        var ranges = request.ranges
        if let usable {
            switch RequestPlan(request, for: usable) {
            case .notModified: return try await context.send(.notModified, of: usable, status: CacheStatus(.hit))
            case .preconditionFailed:
                return try await context.send(.preconditionFailed, of: usable, status: CacheStatus(.hit))
            case .sendParts(let parts): return try await send(parts, first: try await context.read(parts[0]))
            case .send(let range): ranges = range.map { [$0] } ?? []
            }
        }
        let read = try await context.read(ranges.first)
        if let usable, request.isConditional { try read.mustBe(usable) }
        let mayHaveParts = ranges.count > 1 && read.passedThrough == nil
        if usable == nil, request.isConditional || mayHaveParts {
            // A response that bypasses the cache is sent unchanged, except that the conditions, which were not sent to
            // the origin, apply.
            return try await send(read, of: mayHaveParts ? ranges : Array(ranges.prefix(1)))
        }
        return try await sendOne(read, isPartial: !ranges.isEmpty)
    }

    /// Sends the requested content, judged by the information from `read`, which began at the first of `ranges`.
    private func send(_ read: MediaRead, of ranges: [RangeSpec]) async throws -> Bool {
        switch RequestPlan(context.request, ranges: ranges, for: read.information) {
        case .notModified: return try await context.send(.notModified, of: read.information, status: status(of: read))
        case .preconditionFailed:
            return try await context.send(.preconditionFailed, of: read.information, status: status(of: read))
        case .sendParts(let parts):
            return try await send(parts, first: parts[0] == ranges[0] ? read : try await context.read(parts[0]))
        case .send(let range):
            guard range != ranges.first else { return try await sendOne(read, isPartial: range != nil) }
            let other = try await context.read(range)
            try other.mustBe(read.information)
            return try await sendOne(other, isPartial: range != nil)
        }
    }

    // MARK: - One range

    private func sendOne(_ read: MediaRead, isPartial: Bool) async throws -> Bool {
        guard read.passedThrough == nil, isPartial, read.information.completeLength == nil else {
            return try await stream(read, isPartial: isPartial)
        }
        // Content-Range is impossible while the length is unknown, and players fail on `a-b/*`: send the whole.
        let isWhole = read.start == 0 && read.end == nil
        return try await stream(isWhole ? read : try await context.read(nil), isPartial: false)
    }

    private func stream(_ read: MediaRead, isPartial: Bool) async throws -> Bool {
        let status = status(of: read)
        context.log(read.passedThrough?.status.code ?? (isPartial ? 206 : 200), status)
        let (head, framing, hasBody) = head(of: read, isPartial: isPartial, status)
        let channel = context.writer.channel
        let isLive = read.disposition != .hit
        if isLive { UnsentLowWater.set(UnsentLowWater.live, on: channel) }
        defer { if isLive { UnsentLowWater.set(UnsentLowWater.none, on: channel) } }
        // Until the first byte has arrived, an error can still be reported with its own status.
        var first = hasBody ? try await read.next() : nil
        var mayPause = true
        do {
            try await context.writer.stream(head: head, isChunked: framing.isChunked) {
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
            read.cancel()
            context.noteBrokenOff(error)
            return false
        }
        return framing.keepsAlive
    }

    private func head(
        of read: MediaRead, isPartial: Bool, _ status: CacheStatus
    ) -> (head: ByteBuffer, framing: Framing, hasBody: Bool) {
        if let passed = read.passedThrough {
            let response = context.passed(passed, status: status, cookies: context.cookies(passed.headerFields))
            if !response.mayHaveBody { read.cancel() }
            return (response.head, response.framing, response.mayHaveBody)
        }
        let content: MediaResponse.Content =
            if isPartial, let end = read.end, let length = read.information.completeLength {
                .part(read.start..<end, of: length)
            } else {
                .whole(length: read.count)
            }
        let cookies = read.isOwnAnswer ? context.cookies(read.information.fields) : []
        let response = context.response(content, of: read.information, status: status, cookies: cookies)
        return (response.head(), response.framing, true)
    }

    /// Waits before the first hole that follows stored bytes; a client that only wanted stored bytes leaves within that
    /// time.
    ///
    /// The more bytes the client was given, the longer it can play them, and the longer it may take to leave.
    private func pause(_ read: MediaRead) async throws {
        let configuration = context.service.configuration
        let given = Double(read.servedBytes(from: .store)) / Double(Self.bytesForLongestPause)
        try await configuration.clock.sleep(configuration.gracePeriod * (1 + 9 * min(1, given)))
    }

    /// Sends the rest of a response whose head and beginning were sent: `range` of the representation identified by
    /// `generation`.
    func sendRest(_ range: Range<Int64>, of generation: String) async -> Bool {
        // Nothing may be written between the head and these bytes.
        context.writer.interim.close()
        do {
            let read = try await context.read(.bounded(range))
            defer { read.cancel() }
            guard read.information.generation == generation, read.start == range.lowerBound,
                read.end == range.upperBound
            else {
                throw RepriseError(.validatorChanged, "The file changed before the end of the response.")
            }
            try await context.writer.stream(head: ByteBuffer()) { try await read.next() }
            return context.head.keepsAlive
        } catch {
            context.noteBrokenOff(error)
            return false
        }
    }

    // MARK: - Several ranges

    /// Sends `parts` as multipart/byteranges, in the requested order (RFC 9110 §15.3.7.2), or the whole if they might
    /// be of two representations.
    ///
    /// `first` is a read of the first part.
    private func send(_ parts: [RangeSpec], first: MediaRead) async throws -> Bool {
        guard let answer = MultipartAnswer(parts, first: first, context: context) else {
            first.cancel()
            return try await sendOne(try await context.read(nil), isPartial: false)
        }
        return try await answer.send(status(of: first))
    }

    private func status(of read: MediaRead) -> CacheStatus {
        let isStored = read.originStatus != 304
        func forwarded(_ reason: CacheStatus.ForwardReason) -> CacheStatus.Handling {
            .forwarded(reason, status: read.originStatus)
        }
        switch read.disposition {
        case .hit:
            let now = HTTPDate(secondsSince1970: Int64(context.service.wallClock()))
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
}

extension MediaRead {
    /// Ends the read with an error if it is not of the representation for which the conditions were evaluated.
    fileprivate func mustBe(_ judged: ContentInformation) throws {
        let isSame =
            information.generation == judged.generation
            && (!judged.generation.isEmpty || information.validators == judged.validators)
        guard !isSame else { return }
        cancel()
        throw RepriseError(.validatorChanged, "The file changed after the request's conditions were judged.")
    }

    /// Whether the response answers this reader's own request, and no other reader's.
    fileprivate var isOwnAnswer: Bool {
        switch disposition {
        case .bypass: true
        case .unknown: !isCollapsed
        case .hit, .validated, .partial, .miss: false
        }
    }
}
