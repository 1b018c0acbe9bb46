import HTTPSemantics
import HTTPTypes
import Reprise

/// The answer to a HEAD: from the store, or the origin's own.
struct HeadAnswer {
    let context: AnswerContext

    /// Returns whether the connection can take another request.
    func send() async throws -> Bool {
        let request = context.request
        let stored = try await context.resource.loadStored(fields: context.originFields)
        guard let stored, stored.isUsable(for: request.directives) else { return try await relay() }
        let information = stored.information
        if let keepsAlive = try await sendEdited(information) { return keepsAlive }
        let status = CacheStatus(.hit)
        switch RequestPlan(request, for: information) {
        case .sendHead(let content, let information):
            return try await context.send(content, of: information, status: status)
        case .send, .sendParts, .learn:
            return try await context.send(.whole(length: information.completeLength), of: information, status: status)
        }
    }

    /// Sends the head of the text that replaces the stored body; `nil` if none does.
    private func sendEdited(_ information: ContentInformation) async throws -> Bool? {
        guard let editor = context.filter.editorOfText(information, at: context.resource.url) else { return nil }
        let answer = EditedAnswer(context: context, editor: editor)
        guard try await answer.isStoredAccepted(information) else { return nil }
        let read = try await context.read(nil)
        if let keepsAlive = try await answer.send(read) { return keepsAlive }
        let isStreamed = try await answer.isStreamed(read)
        read.cancel()
        guard isStreamed else { return nil }
        return try await context.send(
            .whole(length: nil), of: EditedText.information(inPlaceOf: information), status: CacheStatus(.hit))
    }

    private func relay() async throws -> Bool {
        guard !context.request.directives.onlyIfCached else {
            throw RepriseError(.notStored, "\(context.resource.url.redacted) is not stored.")
        }
        var answer = try await context.resource.head(fields: context.originFields)
        let information = ContentInformation(response: answer, completeLength: nil, rangesSupported: nil)
        if answer.status == .ok,
            let editor = context.filter.editorOfText(information, at: context.resource.url), !editor.looksFirst
        {
            // A GET would be answered with a text that has to be made to know its length and its tag; a HEAD may leave
            // them out (RFC 9110 §9.3.2), and must not cost a GET.
            answer.headerFields = EditedText.fields(inPlaceOf: answer.headerFields)
            answer.headerFields[.contentLength] = nil
        }
        let response = judged(answer)
        let reason = context.stored == nil ? CacheStatus.ForwardReason.uriMiss : .stale
        let passed = context.passed(
            response, status: CacheStatus(.forwarded(reason, status: response.status.code)),
            cookies: context.cookies(response.headerFields, from: nil))
        try await context.writer.write(passed.head)
        return passed.framing.keepsAlive
    }

    /// Applies the request's conditions, which were not sent to the origin, to its answer (RFC 9110 §13.2.2).
    private func judged(_ response: HTTPResponse) -> HTTPResponse {
        guard response.status == .ok, context.request.isConditional else { return response }
        var response = response
        let validators = Validators(response.headerFields)
        switch evaluatePreconditions(context.head.fields, method: .head, validators: validators) {
        case .notModified: response.status = .notModified
        case .preconditionFailed:
            response.status = .preconditionFailed
            response.headerFields[.contentLength] = "0"
        case .proceed: break
        }
        return response
    }
}
