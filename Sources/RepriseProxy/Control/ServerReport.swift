import Reprise

/// Which server it is, as `server.json` says it.
package struct ServerReport: Codable, Sendable {
    /// The directory of its cache; only through the control socket, and not without a store.
    package let directory: String?
    /// The names of the operations and other commands that it knows.
    package let operations: [String]

    init(of service: ProxyService, isLocal: Bool) {
        directory = isLocal ? service.cache.directory : nil
        operations =
            service.configuration.controlOperations.map { $0.name }
            + (service.configuration.logLevel == nil ? [] : [LogLevelCommand.name])
    }
}
