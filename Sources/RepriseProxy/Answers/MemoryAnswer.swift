import HTTPSemantics
import HTTPTypes
import NIOCore
import Reprise

/// The answer to a GET or HEAD with bytes in memory, which are judged as a representation of their own.
struct MemoryAnswer {
    let context: AnswerContext
    let text: HeldBytes
    /// The metadata of the bytes.
    let information: ContentInformation
    let status: CacheStatus
    /// The origin's cookies, if the bytes are its answer to this request.
    var cookies: [HTTPField] = []

    /// Returns whether the connection can take another request.
    func send() async throws -> Bool {
        let length = Int64(text.bytes.count)
        switch RequestPlan(context.request, for: information) {
        case .sendHead(let content, let information):
            return try await context.send(content, of: information, status: status)
        case .send(let spec?, _):
            guard let range = spec.resolve(completeLength: length) else { return await refuseRange(length) }
            return try await send(range, as: .part(range, of: length))
        case .send(nil, _), .sendParts, .learn:
            // Several ranges of a text may be answered with the whole (RFC 9110 §14.2).
            return try await send(0..<length, as: .whole(length: length))
        }
    }

    private func send(_ range: Range<Int64>, as content: MediaResponse.Content) async throws -> Bool {
        if case .part = content { context.log(206, cache: status) } else { context.log(200, cache: status) }
        let response = context.response(content, of: information, status: status, cookies: cookies)
        var rest = context.request.isHead || range.isEmpty ? nil : MediaPiece.memory(HeldSlice(of: text, range))
        try await context.writer.stream(head: response.head()) { rest.take() }
        return response.framing.keepsAlive
    }

    private func refuseRange(_ length: Int64) async -> Bool {
        let error = RepriseError(.rangeNotSatisfiable, "The range lies outside the \(length) bytes of the text.")
        return await ErrorAnswer(context: context, error: error, completeLength: length).send()
    }
}
