import HTTPSemantics
import NIOCore
import Reprise

/// The answer to a GET or HEAD with a text in place of the body: the body is gathered, edited, and judged as a
/// representation of its own.
struct EditedAnswer {
    /// Number of bytes with which an editor is asked whether it accepts the body.
    private static let beginning: Int64 = 64

    let context: AnswerContext
    let editor: any BodyEditor

    /// Whether the editor accepts the body.
    ///
    /// Looks at its beginning in a read of its own, so that the read that is answered otherwise stays whole.
    func isAccepted() async throws -> Bool {
        guard editor.looksFirst else { return true }
        let read: MediaRead
        do {
            read = try await context.read(.bounded(0..<Self.beginning))
        } catch let error as RepriseError where error.code == .rangeNotSatisfiable {
            return false
        }
        defer { read.cancel() }
        guard read.isOfRepresentation else { return false }
        var bytes: [UInt8] = []
        while bytes.count < Self.beginning, let more = try await read.nextBytes() { bytes += more }
        return editor.accepts(Array(bytes.prefix(Int(Self.beginning))))
    }

    /// Returns whether the connection can take another request; `nil`, with nothing sent, if the body is not edited.
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
        let body = GatheredBody(
            bytes: bytes, information: read.information, url: context.resource.url,
            prefix: context.service.configuration.pathPrefix, host: context.head.value("host"))
        guard let text = try await editor.edit(body) else { return nil }
        return try await send(EditedText(text, inPlaceOf: read.information), context.outcome(of: read))
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

    private func send(_ text: EditedText, _ outcome: CacheOutcome) async throws -> Bool {
        let length = Int64(text.bytes.count)
        switch RequestPlan(context.request, for: text.information) {
        case .sendHead(let content, let information):
            return try await context.send(content, of: information, status: outcome.status)
        case .send(let spec?, _):
            guard let range = spec.resolve(completeLength: length) else { return await refuseRange(length) }
            let bytes = text.bytes[Int(range.lowerBound)..<Int(range.upperBound)]
            return try await send(bytes, of: text, as: .part(range, of: length), outcome)
        case .send(nil, _), .sendParts, .learn:
            // Several ranges of a text may be answered with the whole (RFC 9110 §14.2).
            return try await send(text.bytes[...], of: text, as: .whole(length: length), outcome)
        }
    }

    private func send(
        _ bytes: ArraySlice<UInt8>, of text: EditedText, as content: MediaResponse.Content, _ outcome: CacheOutcome
    ) async throws -> Bool {
        if case .part = content { context.log(206, outcome.status) } else { context.log(200, outcome.status) }
        let cookies = outcome.isOwnAnswer ? context.cookies(text.information.fields) : []
        let response = context.response(content, of: text.information, status: outcome.status, cookies: cookies)
        var buffer = response.head(roomFor: bytes.count)
        if !context.request.isHead { buffer.writeBytes(bytes) }
        try await context.writer.write(buffer)
        return response.framing.keepsAlive
    }

    private func refuseRange(_ length: Int64) async -> Bool {
        let error = RepriseError(.rangeNotSatisfiable, "The range lies outside the \(length) bytes of the text.")
        return await ErrorAnswer(context: context, error: error, completeLength: length).send()
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
