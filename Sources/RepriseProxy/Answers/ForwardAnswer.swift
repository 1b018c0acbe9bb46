import HTTPSemantics
import HTTPTypes
import Reprise

/// The origin's answer to a request that the cache does not handle (RFC 9111 §4).
struct ForwardAnswer {
    let context: AnswerContext

    /// Returns whether the connection can take another request.
    func send(_ method: String) async throws -> Bool {
        guard let method = HTTPRequest.Method(rawValue: method) else {
            throw RepriseError(.invalidArgument, "The method is not a token (RFC 9110 §9.1).")
        }
        let response = try await context.resource.send(
            method, fields: context.head.originFields, body: context.head.body)
        defer { response.body.cancel() }
        let passed = context.passed(
            response.head, status: CacheStatus(.forwarded(.method, status: response.head.status.code)),
            cookies: context.cookies(response.head.headerFields, from: response.url), from: response.url)
        do {
            try await context.writer.stream(head: passed.head, isChunked: passed.framing.isChunked) {
                guard passed.mayHaveBody else { return nil }
                return try await response.body.next().map { .memory($0) }
            }
        } catch {
            return false
        }
        return passed.framing.keepsAlive
    }
}
