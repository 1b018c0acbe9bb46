import HTTPSemantics
import HTTPTypes
import NIOCore
import Primitives
import Reprise

/// The answer to a GET or HEAD with a text in place of the body: the body is gathered, edited, and judged as a
/// representation of its own.
///
/// Inspecting a body needs no extra request, because the read can return the inspected bytes again.
struct EditedAnswer {
    /// Number of bytes after which a body that the editor cannot judge is left alone.
    private static let beginning = 4096
    /// Maximum number of bytes of a large body to edit at once.
    private static let pieceSize = 32 << 10

    let context: AnswerContext
    let editor: any BodyEditor

    /// Whether the editor accepts the body of `read`, which still delivers every byte.
    func isAccepted(_ read: MediaRead) async throws -> Bool {
        guard editor.looksFirst else { return true }
        guard read.beginsAtStart else { return try await isStoredAccepted(read.information) }
        var (taken, bytes): ([[UInt8]], [UInt8]) = ([], [])
        var verdict: Bool?
        while verdict == nil, bytes.count < Self.beginning,
            let more = try await context.promptly({ try await read.nextBytes() })
        {
            taken.append(more)
            bytes += more.prefix(Self.beginning - bytes.count)
            verdict = editor.accepts(bytes, of: read.information)
        }
        read.putBack(taken)
        if verdict == nil, !read.isWhole { return try await isStoredAccepted(read.information) }
        return verdict ?? false
    }

    /// Whether the editor accepts the stored body with this metadata; it does not if its beginning is not stored.
    func isStoredAccepted(_ information: ContentInformation) async throws -> Bool {
        guard editor.looksFirst else { return true }
        let bytes = try await context.storedBeginning(atMost: Int64(Self.beginning))
        return editor.accepts(bytes, of: information) ?? false
    }

    /// Returns whether the connection can take another request; `nil`, with nothing sent, if the body is too large:
    /// `read`, which is one of the whole, still delivers every byte then.
    ///
    /// Throws only while nothing has been sent.
    func send(_ read: MediaRead) async throws -> Bool? {
        guard read.isOfRepresentation, read.count.map({ $0 <= editor.maximumLength }) != false else { return nil }
        do { return try await send(read, outcome: context.outcome(of: read)) } catch is SharedTexts.Overfull {
            return await context.refuseText()
        }
    }

    /// Edits and sends a body that is too large for ``send(_:)`` while it arrives, without a length.
    func stream(_ read: MediaRead) async throws -> Bool? {
        let outcome = context.outcome(of: read)
        guard let pieces = try await pieceEditor(of: read, outcome) else { return nil }
        let information = EditedText.information(inPlaceOf: read.information)
        let cookies = cookies(of: read, outcome: outcome)
        let response = context.response(
            .whole(length: nil), of: information, status: outcome.status, cookies: cookies)
        context.log(200, cache: outcome.status)
        do {
            try await stream(read, through: pieces, after: response)
        } catch  where error is CancellationError || !context.writer.channel.isActive {
            return false
        } catch {
            read.cancel()
            context.noteBrokenOff(error)
            return false
        }
        return response.framing.keepsAlive
    }

    /// Whether a body that is too large for ``send(_:)`` can be edited while it arrives; `read` keeps every byte.
    func isStreamed(_ read: MediaRead) async throws -> Bool {
        try await pieceEditor(of: read, context.outcome(of: read)) != nil
    }

    private func pieceEditor(of read: MediaRead, _ outcome: CacheOutcome) async throws -> (any PieceEditor)? {
        guard read.isOfRepresentation else { return nil }
        return editor.pieceEditor(try await beginning(of: read), of: unread(read, outcome: outcome))
    }

    private func stream(
        _ read: MediaRead, through first: any PieceEditor, after response: MediaResponse
    ) async throws {
        var (pieces, isOver) = (first, false)
        var taken: ArraySlice<UInt8> = []
        try await context.writer.stream(head: response.head(), isChunked: response.framing.isChunked) {
            while !isOver {
                if taken.isEmpty, let more = try await read.nextBytes() { taken = more[...] }
                isOver = taken.isEmpty
                let bytes = isOver ? nil : Array(taken.prefix(Self.pieceSize))
                taken = taken.dropFirst(Self.pieceSize)
                let text: [UInt8]
                (pieces, text) = await DiskQueue.largePlaylists.run { [pieces] in
                    var pieces = pieces
                    let text = bytes.map { pieces.edit($0) } ?? pieces.finish()
                    return (pieces, text)
                }
                if !text.isEmpty { return .memory(text) }
            }
            return nil
        }
    }

    /// Returns the first bytes of `read` and puts them back.
    private func beginning(of read: MediaRead) async throws -> [UInt8] {
        if let known = read.returnedBytes, known.count >= Self.beginning { return Array(known.prefix(Self.beginning)) }
        var (taken, beginning): ([[UInt8]], [UInt8]) = ([], [])
        while beginning.count < Self.beginning, let more = try await read.nextBytes() {
            taken.append(more)
            beginning += more.prefix(Self.beginning - beginning.count)
        }
        read.putBack(taken)
        return beginning
    }

    /// The origin's cookies to send to the client with the edited text.
    private func cookies(of read: MediaRead, outcome: CacheOutcome) -> [HTTPField] {
        context.takeCookies(of: read.information)
        return outcome.isOwnAnswer
            ? context.cookies(read.information.fields, from: read.information.finalURL)
            : context.storedCookies(read.information)
    }

    private func unread(_ read: MediaRead, outcome: CacheOutcome) -> GatheredBody {
        GatheredBody(
            bytes: [], information: read.information, resource: context.resource,
            removedTitleCount: read.removedTitleCount, prefix: context.head.pathPrefix,
            host: context.head.value("host"),
            scheme: context.service.configuration.scheme,
            isWithoutOrigin: context.service.cache.isOffline || context.resource.networkPolicy == .never
                || outcome.isWithoutAnswer,
            isHostAway: context.resource.isHostAway,
            requester: context.service.streams.requester(of: context.head),
            isForEveryone: !read.information.generation.isEmpty && Vary(read.information.fields)?.isEmpty == true)
    }

    private func send(_ read: MediaRead, outcome: CacheOutcome) async throws -> Bool? {
        let unread = unread(read, outcome: outcome)
        let cookies = cookies(of: read, outcome: outcome)
        if let text = editor.known(unread) {
            read.cancel()
            noteServed(read, text.count)
            return try await send(try context.service.texts.held(text), inPlaceOf: read, outcome, cookies)
        }
        guard let edition = try await edition(of: read, unread) else { return nil }
        if edition.isEdited { return try await send(edition.bytes, inPlaceOf: read, outcome, cookies) }
        // A body that the editor leaves alone is sent from memory, too: reading it again could cost a request.
        var information = read.information
        information.completeLength = Int64(edition.bytes.bytes.count)
        information.rangesSupported = true
        var status = outcome.status
        if let reason = edition.reason { status.detail = reason }
        return try await MemoryAnswer(
            context: context, text: edition.bytes, information: information, status: status, cookies: cookies
        ).send()
    }

    private func send(
        _ text: HeldBytes, inPlaceOf read: MediaRead, _ outcome: CacheOutcome, _ cookies: [HTTPField]
    ) async throws -> Bool {
        let edited = EditedText(text, inPlaceOf: read.information)
        return try await MemoryAnswer(
            context: context, text: text, information: edited.information, status: outcome.status, cookies: cookies
        ).send()
    }

    /// The text of `read`, made here or by another request for the same.
    ///
    /// `nil` if the body is too large: then each client's own read delivers it.
    private func edition(of read: MediaRead, _ unread: GatheredBody) async throws -> SharedTexts.Edition? {
        let (texts, editor, isJoined) = (context.service.texts, editor, Mutex(false))
        let edition: SharedTexts.Edition?
        do {
            edition = try await texts.edition(
                SharedTexts.BodyKey(read.information, of: context), unread, of: context,
                join: { isJoined.withLock { $0 = true } },
                // The read of the request that began it, whose client may leave before the others.
                gather: { try await texts.gather(read, atMost: editor.maximumLength) },
                edit: { try await editor.edit($0) })
        } catch {
            if isJoined.withLock({ $0 }) { read.cancel() }
            throw error
        }
        guard let edition else { return nil }
        read.cancel()
        if isJoined.withLock({ $0 }) { noteServed(read, edition.bodyCount) }
        return edition
    }

    /// Counts a body that this request did not read itself.
    private func noteServed(_ read: MediaRead, _ count: Int) {
        let source: PieceSource = read.disposition == .hit ? .store : .joined
        context.service.cache.noteServed(
            reads: 0, bytes: Int64(count), from: source, of: context.resource.url.authority)
        var served = SourceBytes()
        served[source] = Int64(count)
        context.writer.meter.note(served, first: count > 0 ? source : nil)
    }
}

extension MediaRead {
    /// Whether this is a read of the whole representation.
    var isWhole: Bool {
        passedThrough.map { $0.status == .ok } ?? (start == 0 && end == information.completeLength)
    }

    /// Whether its first byte is the representation's.
    fileprivate var beginsAtStart: Bool {
        guard let passed = passedThrough else { return start == 0 }
        guard passed.status == .partialContent else { return isWhole }
        guard let field = passed.headerFields[.contentRange], case .satisfied(let range, _) = ContentRange(field) else {
            return false
        }
        return range.lowerBound == 0
    }

    /// Whether the bytes are those of a representation, not of a page that says something else.
    var isOfRepresentation: Bool { passedThrough.map { $0.status == .ok || $0.status == .partialContent } != false }
}
