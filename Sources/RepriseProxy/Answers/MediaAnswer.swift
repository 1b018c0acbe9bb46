import HTTPSemantics
import HTTPTypes
import NIOCore
import Reprise

/// The answer to a GET that needs more than a lookup in memory: a read, streamed to the client.
struct MediaAnswer {
    /// Number of stored bytes before a hole for which the pause is ten times the grace period.
    private static let bytesForLongestPause: Int64 = 2 << 20

    let context: AnswerContext
    let plan: RequestPlan
    let filter: any BodyFilter

    /// Returns whether the connection can take another request.
    ///
    /// Throws only while nothing has been sent.
    func send() async throws -> Bool {
        switch plan {
        case .send(let range, let judged):
            let read = try await begin(range)
            if let keepsAlive = try await sendEdited(read) { return keepsAlive }
            if let judged { try read.mustBe(judged) }
            return try await sendOne(read, isPartial: range != nil)
        case .learn(let range):
            let read = try await begin(range)
            if let keepsAlive = try await sendEdited(read) { return keepsAlive }
            return try await send(read, from: range)
        case .sendParts(let parts): return try await send(parts, first: try await context.read(parts[0]))
        case .sendHead(let content, let information):
            return try await context.send(content, of: information, status: CacheStatus(.hit))
        }
    }

    /// Begins a read; one of the whole if `range` can only be one of the text that replaces the body.
    private func begin(_ range: RangeSpec?) async throws -> MediaRead {
        do {
            return try await context.promptly { try await context.read(range) }
        } catch let error as RepriseError where error.code == .rangeNotSatisfiable {
            guard let information = context.stored?.information,
                let answer = edited(information), try await answer.isStoredAccepted(information)
            else { throw error }
            return try await context.read(nil)
        } catch let error as RepriseError where error.code == .notStored {
            // Players ask for all from an offset on, and play until it breaks off.
            guard let range, case .from = range else { throw error }
            return try await context.readStoredBeginning(of: range)
        }
    }

    /// The answer with a text in place of the body; `nil` if the body is sent as it is.
    private func edited(_ information: ContentInformation) -> EditedAnswer? {
        guard let editor = filter.editorOfText(information, at: context.resource.url) else {
            if information.contentCoding != nil { filter.noteCoded(information, at: context.resource.url) }
            return nil
        }
        return EditedAnswer(context: context, editor: editor)
    }

    /// Sends the text that replaces the body of `read`; `nil` if the body is sent as it is, all of which `read` still
    /// delivers then.
    private func sendEdited(_ read: MediaRead) async throws -> Bool? {
        guard read.isOfRepresentation, let answer = edited(read.information), try await answer.isAccepted(read) else {
            return nil
        }
        if read.isWhole {
            if let keepsAlive = try await answer.send(read) { return keepsAlive }
            return try await answer.stream(read)
        }
        read.cancel()
        let whole = try await context.read(nil)
        if whole.isWhole {
            if let keepsAlive = try await answer.send(whole) { return keepsAlive }
            if let keepsAlive = try await answer.stream(whole) { return keepsAlive }
        }
        whole.cancel()
        // The range is one of the body, and not of a text in its place.
        let filter = PassThrough()
        return try await MediaAnswer(context: context, plan: context.plan(filter: filter), filter: filter).send()
    }

    /// Plans with the metadata that `read` brought, which began at `range`.
    private func send(_ read: MediaRead, from range: RangeSpec?) async throws -> Bool {
        // A response that bypasses the cache is sent unchanged, except that the conditions, which were not sent to the
        // origin, apply.
        let ranges = read.passedThrough == nil ? context.request.ranges : Array(context.request.ranges.prefix(1))
        switch RequestPlan(context.request, ranges: ranges, for: read.information) {
        case .send(let wanted, _), .learn(let wanted):
            guard wanted != range else { return try await sendOne(read, isPartial: range != nil) }
            let other = try await context.read(wanted)
            try other.mustBe(read.information)
            return try await sendOne(other, isPartial: wanted != nil)
        case .sendParts(let parts):
            return try await send(parts, first: parts[0] == range ? read : try await context.read(parts[0]))
        case .sendHead(let content, let information):
            return try await context.send(content, of: information, status: context.outcome(of: read).status)
        }
    }

    // MARK: - One range

    private func sendOne(_ read: MediaRead, isPartial: Bool) async throws -> Bool {
        // Don't answer `bytes=0-` with 206: it would tell players that they can seek.
        let isPartial = isPartial && !(read.isWhole && !read.information.servesRanges)
        guard read.passedThrough == nil, isPartial, read.information.completeLength == nil else {
            return try await stream(read, isPartial: isPartial)
        }
        // Content-Range is impossible while the length is unknown, and players fail on `a-b/*`: send the whole.
        if read.start == 0, read.end == nil { return try await stream(read, isPartial: false) }
        let whole = try await context.read(nil)
        // Not earlier: without a reader, the fetch is canceled, and nothing can continue it.
        read.cancel()
        return try await stream(whole, isPartial: false)
    }

    private func stream(_ read: MediaRead, isPartial: Bool) async throws -> Bool {
        let outcome = context.outcome(of: read)
        context.log(read.passedThrough?.status.code ?? (isPartial ? 206 : 200), cache: outcome.status)
        let (head, framing, hasBody) = head(of: read, isPartial: isPartial, outcome: outcome)
        let channel = context.writer.channel
        let isLive = read.disposition != .hit
        if isLive { UnsentLowWater.set(UnsentLowWater.live, on: channel) }
        defer { if isLive { UnsentLowWater.set(UnsentLowWater.none, on: channel) } }
        // Until the first byte has arrived, an error can still be reported with its own status.
        var first = hasBody ? try await context.promptly { try await read.next() } : nil
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
        of read: MediaRead, isPartial: Bool, outcome: CacheOutcome
    ) -> (head: ByteBuffer, framing: Framing, hasBody: Bool) {
        if let passed = read.passedThrough {
            let response = context.passed(
                passed, status: outcome.status,
                cookies: context.cookies(passed.headerFields, from: read.information.finalURL),
                from: read.information.finalURL)
            if !response.mayHaveBody { read.cancel() }
            return (response.head, response.framing, response.mayHaveBody)
        }
        let content: MediaResponse.Content =
            if isPartial, let end = read.end, let length = read.information.completeLength {
                .part(read.start..<end, of: length)
            } else {
                .whole(length: read.count)
            }
        let cookies =
            outcome.isOwnAnswer ? context.cookies(read.information.fields, from: read.information.finalURL) : []
        let response = context.response(content, of: read.information, status: outcome.status, cookies: cookies)
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
        return try await answer.send(context.outcome(of: first).status)
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
}
