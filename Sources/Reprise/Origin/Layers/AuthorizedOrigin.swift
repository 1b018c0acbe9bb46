/// Gives requests the authorization that is known, and sends one again with another if it is refused.
struct AuthorizedOrigin: Origin {
    private let next: any Origin
    private let authorizer: Authorizer

    init(_ next: any Origin, authorizer: Authorizer) { (self.next, self.authorizer) = (next, authorizer) }

    func send(_ request: OriginRequest) async throws -> OriginResponse {
        guard request.method == .get || request.method == .head else { return try await next.send(request) }
        var sent = authorizer.apply(to: request)
        var response = try await next.send(sent.request)
        var isFinal = false
        // With what is known by then, and with an answer of its own.
        for _ in 0..<2 where !isFinal {
            let renewal: Authorizer.Renewal?
            do { renewal = try await authorizer.renewal(of: request, sentAs: sent, after: response) } catch {
                response.body.cancel()
                throw error
            }
            guard let renewal else { break }
            response.body.cancel()
            (sent, isFinal) = (renewal.authorized, renewal.isFinal)
            response = try await next.send(sent.request)
        }
        return response
    }
}
