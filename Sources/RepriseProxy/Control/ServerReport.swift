import Reprise

/// Which server it is, as `server.json` says it.
package struct ServerReport: Codable, Sendable {
    /// The directory of its cache; only through the control socket, and not without a store.
    package let directory: String?
    /// Where players reach it from this machine, without a token, such as `http://127.0.0.1:8090`; only through the
    /// control socket.
    package let address: String?
    /// Whether requests need a token.
    package let needsToken: Bool?
    /// The names of the operations and other commands that it knows.
    package let operations: [String]

    init(of service: ProxyService, isLocal: Bool) {
        directory = isLocal ? service.cache.directory : nil
        address = isLocal ? service.address : nil
        needsToken = isLocal ? service.configuration.hasTokens : nil
        operations =
            service.configuration.controlOperations.map { $0.name }
            + (service.configuration.logLevel == nil ? [] : [LogLevelCommand.name])
    }
}
