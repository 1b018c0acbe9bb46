import HTTPSemantics
import NIOCore
import Reprise

/// The answer to a GET or HEAD with a text in place of the body: the body is gathered, edited, and judged as a
/// representation of its own.
struct EditedAnswer {
    /// Number of bytes with which an editor is asked whether it accepts the body.
    private static let beginning: Int64 = 4096

    let context: AnswerContext
    let editor: any BodyEditor

    /// Whether the editor accepts the body.
    ///
    /// Looks at its beginning beside the read that is answered otherwise, which stays whole.
    func isAccepted() async throws -> Bool {
        guard editor.looksFirst else { return true }
        let read: MediaRead
        do {
            read = try await context.look(atFirst: Self.beginning)
        } catch let error as RepriseError where error.code == .rangeNotSatisfiable {
            return false
        }
        defer { read.cancel() }
        guard read.isOfRepresentation else { return false }
        var bytes: [UInt8] = []
        while bytes.count < Self.beginning, let more = try await read.nextBytes() { bytes += more }
        return editor.accepts(Array(bytes.prefix(Int(Self.beginning))), of: read.information)
    }

    /// Returns whether the connection can take another request; `nil`, with nothing sent, if the body is too large.
    ///
    /// Throws only while nothing has been sent. `begun` is used if it is a read of the whole, and ends in any case.
    func send(_ begun: MediaRead? = nil) async throws -> Bool? {
        let read: MediaRead
        if let begun, begun.isWhole {
            read = begun
        } else {
            begun?.cancel()
            read = try await context.read(nil)
        }
        defer { read.cancel() }
        guard read.isOfRepresentation, let bytes = try await gather(read) else { return nil }
        let outcome = context.outcome(of: read)
        let body = GatheredBody(
            bytes: bytes, information: read.information, resource: context.resource,
            removedTitleCount: read.removedTitleCount, prefix: context.head.pathPrefix,
            host: context.head.value("host"),
            scheme: context.service.configuration.scheme,
            isWithoutOrigin: context.service.cache.isOffline || context.resource.networkPolicy == .never
                || outcome.isWithoutAnswer,
            isHostAway: context.resource.isHostAway)
        let cookies = outcome.isOwnAnswer ? context.cookies(read.information.fields) : []
        var information = read.information
        information.completeLength = Int64(bytes.count)
        information.rangesSupported = true
        var answer = MemoryAnswer(
            context: context, bytes: bytes, information: information, status: outcome.status, cookies: cookies)
        // A body that the editor leaves alone is sent from memory, too: reading it again could cost a request.
        if let text = try await editor.edit(body) {
            let edited = EditedText(text, inPlaceOf: read.information)
            (answer.bytes, answer.information) = (edited.bytes, edited.information)
        }
        return try await answer.send()
    }

    /// All bytes of `read`; `nil` if they are too many.
    private func gather(_ read: MediaRead) async throws -> [UInt8]? {
        guard read.count.map({ $0 <= editor.maximumLength }) != false else { return nil }
        var bytes: [UInt8] = []
        while let more = try await read.nextBytes() {
            guard bytes.count + more.count <= editor.maximumLength else { return nil }
            bytes += more
        }
        return bytes
    }
}

extension MediaRead {
    /// Whether this is a read of the whole representation.
    fileprivate var isWhole: Bool {
        passedThrough.map { $0.status == .ok } ?? (start == 0 && end == information.completeLength)
    }

    /// Whether the bytes are those of a representation, not of a page that says something else.
    fileprivate var isOfRepresentation: Bool { passedThrough.map { $0.status == .ok } != false }
}
