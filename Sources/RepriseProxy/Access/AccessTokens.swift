import Primitives

/// The tokens that a server wants now.
final class AccessTokens: Sendable {
    private let single: [AccessToken]
    private let takesAuthorization: Bool
    /// Exchanged as a whole.
    private let table: Mutex<AccessTable>

    /// `nil` if `configuration` has no token: everyone may use the server.
    ///
    /// An app's own players show the token in the path alone, because `Authorization` is their servers'.
    init?(_ configuration: ProxyConfiguration) {
        single = configuration.token.map { [AccessToken($0, name: nil, mayControl: true)] } ?? []
        takesAuthorization = configuration.items == nil
        let tokens = single + configuration.tokens
        guard !tokens.isEmpty else { return nil }
        table = Mutex(AccessTable(tokens, takesAuthorization: takesAuthorization))
    }

    var current: AccessTable { table.withLock { $0 } }

    /// Wants `tokens` from now on in place of those with a name.
    func replace(with tokens: [AccessToken]) {
        table.withLock { [single, takesAuthorization] table in
            table = AccessTable(single + tokens, takesAuthorization: takesAuthorization, after: table)
        }
    }
}
