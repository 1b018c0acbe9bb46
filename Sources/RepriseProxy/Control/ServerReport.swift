import Crypto
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
    /// SHA-256 digests of the tokens; only through the control socket.
    ///
    /// Commands use them to recognize addresses that contain a token.
    private let tokens: [String]?
    /// The names of the operations and other commands that it knows.
    package let operations: [String]

    init(of service: ProxyService, isLocal: Bool) {
        directory = isLocal ? service.cache.directory : nil
        address = isLocal ? service.address : nil
        needsToken = isLocal ? service.configuration.hasTokens : nil
        tokens = isLocal ? service.tokens?.current.texts.texts.map(Self.digest(of:)).sorted() : nil
        operations =
            service.configuration.controlOperations.map { $0.name }
            + (service.configuration.logLevel == nil ? [] : [LogLevelCommand.name])
    }

    /// Whether `text` is a valid token of the server.
    package func isToken(_ text: String) -> Bool { tokens?.contains(Self.digest(of: text)) == true }

    private static func digest(of text: String) -> String {
        SHA256.hash(data: Array(text.utf8)).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }
}
