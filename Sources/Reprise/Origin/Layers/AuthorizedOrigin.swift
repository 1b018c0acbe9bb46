/// Gives requests the authorization that is known, and sends one again with another if it is refused.
struct AuthorizedOrigin: Origin {
    let next: any Origin
    let authorizer: Authorizer

    func send(_ request: OriginRequest) async throws -> OriginResponse {
        guard request.method == .get || request.method == .head else { return try await next.send(request) }
        var sent = authorizer.apply(to: request)
        var response = try await next.send(sent.request)
        var isFinal = false
        // Once with an authorization that became known in the meantime, and once with one for this request.
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
