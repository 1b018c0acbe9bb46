import Reprise
import RepriseProxy

/// Recognizes addresses of the user's own server that were copied from a player, such as
/// `http://127.0.0.1:8090/TOKEN/https/example.com/film.mp4`.
struct OwnAddress {
    /// The report of the server that uses the cache; `nil` if no server is running.
    let server: ServerReport?
    /// The configured port, used if no server is running.
    let port: Int

    /// The origin URL in the server address `text`; `nil` if `text` is not an address of this server.
    func url(behind text: String) -> String? {
        guard let address = Self.parts(of: text), isOwn(address),
            case .resource(let url)? = try? Route(target: address.url.target, token: address.token)
        else { return nil }
        return url.description
    }

    /// Whether `text` looks like an address of a Reprise server.
    static func isLike(_ text: String) -> Bool { parts(of: text) != nil }

    private struct Parts {
        let url: ResourceURL
        /// The first segment of the path, if it is not a scheme.
        let token: String?
    }

    private static func parts(of text: String) -> Parts? {
        guard let url = try? ResourceURL(text) else { return nil }
        let segments = url.target.dropFirst().split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        func isScheme(_ index: Int) -> Bool {
            guard index < segments.count - 1 else { return false }
            return ["http", "https", "http:", "https:"].contains(segments[index].lowercased())
        }
        if isScheme(0) { return Parts(url: url, token: nil) }
        return isScheme(1) ? Parts(url: url, token: String(segments[0])) : nil
    }

    private func isOwn(_ address: Parts) -> Bool {
        let isOfMachine = ProxyConfiguration.isLoopback(host: address.url.host)
        guard let server else { return isOfMachine && address.url.port == port }
        // With our token, any host name is accepted: no origin has the token in its paths.
        if let token = address.token, server.isToken(token) { return true }
        guard let own = server.address.flatMap({ try? ResourceURL($0) }), own.port == address.url.port,
            isOfMachine || own.host == address.url.host
        else { return false }
        return address.token == nil || server.needsToken == true
    }
}

extension CacheOptions {
    /// Replaces addresses of the user's own server with the origin URLs that they contain.
    ///
    /// Other arguments are returned unchanged. Prints each replacement to standard error, without the token.
    func behindOwn(_ texts: [String]) async throws -> [String] {
        guard texts.contains(where: OwnAddress.isLike) else { return texts }
        // Ignore errors here. The command reports them itself.
        let client = try? await ControlClient.find(self)
        let own = OwnAddress(server: client?.report, port: try settings().value(.port, given: nil))
        return texts.map { text in
            guard let url = own.url(behind: text) else { return text }
            Terminal.error("reprise: That is an address of this cache's own server. Taken: \(URLText.redacted(url))")
            return url
        }
    }

    /// Replaces an address of the user's own server with the origin URL that it contains.
    func behindOwn(_ text: String) async throws -> String { try await behindOwn([text])[0] }
}
