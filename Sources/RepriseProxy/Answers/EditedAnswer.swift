import HTTPSemantics
import NIOCore
import Reprise

/// The answer to a GET or HEAD with a text in place of the body: the body is gathered, edited, and judged as a
/// representation of its own.
///
/// To look at a body costs no request: its bytes stay in the read that brought them.
struct EditedAnswer {
    /// Number of bytes after which a body that the editor cannot judge is left alone.
    private static let beginning = 4096

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
        guard read.isOfRepresentation, let bytes = try await gather(read) else { return nil }
        defer { read.cancel() }
        let outcome = context.outcome(of: read)
        let body = GatheredBody(
            bytes: bytes, information: read.information, resource: context.resource,
            removedTitleCount: read.removedTitleCount, prefix: context.head.pathPrefix,
            host: context.head.value("host"),
            scheme: context.service.configuration.scheme,
            isWithoutOrigin: context.service.cache.isOffline || context.resource.networkPolicy == .never
                || outcome.isWithoutAnswer,
            isHostAway: context.resource.isHostAway,
            requester: context.service.streams.requester(of: context.head),
            isForEveryone: !read.information.generation.isEmpty && Vary(read.information.fields)?.isEmpty == true)
        let cookies = outcome.isOwnAnswer ? context.cookies(read.information.fields) : []
        var information = read.information
        information.completeLength = Int64(bytes.count)
        information.rangesSupported = true
        var answer = MemoryAnswer(
            context: context, bytes: bytes, information: information, status: outcome.status, cookies: cookies)
        // A body that the editor leaves alone is sent from memory, too: reading it again could cost a request.
        do {
            if let text = try await editor.edit(body) {
                let edited = EditedText(text, inPlaceOf: read.information)
                (answer.bytes, answer.information) = (edited.bytes, edited.information)
            }
        } catch let error as UneditedBody {
            answer.status.detail = error.reason
        }
        return try await answer.send()
    }

    /// All bytes of `read`; `nil` if they are too many, which it still delivers then.
    private func gather(_ read: MediaRead) async throws -> [UInt8]? {
        guard read.count.map({ $0 <= editor.maximumLength }) != false else { return nil }
        var (taken, count): ([[UInt8]], Int) = ([], 0)
        while let more = try await read.nextBytes() {
            taken.append(more)
            count += more.count
            guard count <= editor.maximumLength else {
                read.putBack(taken)
                return nil
            }
        }
        return Array(taken.joined())
    }
}

extension MediaRead {
    /// Whether this is a read of the whole representation.
    var isWhole: Bool {
        passedThrough.map { $0.status == .ok } ?? (start == 0 && end == information.completeLength)
    }

    /// Whether its first byte is the representation's.
    fileprivate var beginsAtStart: Bool { passedThrough == nil ? start == 0 : isWhole }

    /// Whether the bytes are those of a representation, not of a page that says something else.
    var isOfRepresentation: Bool { passedThrough.map { $0.status == .ok || $0.status == .partialContent } != false }
}
