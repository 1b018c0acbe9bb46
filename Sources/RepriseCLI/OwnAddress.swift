import Reprise
import RepriseProxy

/// Recognizes addresses of the user's own server, which people copy from their player, such as
/// `http://127.0.0.1:8090/TOKEN/https/example.com/film.mp4`.
struct OwnAddress {
    /// What the server that has the cache says of itself; `nil` if none runs.
    let server: ServerReport?
    /// Where a server listens that does not run.
    let port: Int

    /// The URL that the server serves at the address `text`; `nil` if that is none of its addresses.
    func url(behind text: String) -> String? {
        guard let address = Self.parts(of: text), isOwn(address),
            case .resource(let url)? = try? Route(target: address.url.target, token: address.token)
        else { return nil }
        return url.description
    }

    /// Whether `text` has the form of such an address.
    static func isLike(_ text: String) -> Bool { parts(of: text) != nil }

    private struct Parts {
        let url: ResourceURL
        /// The first segment of the path, if it is no scheme.
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
        // Under any name: no origin has our token in its paths.
        if let token = address.token, server.isToken(token) { return true }
        guard let own = server.address.flatMap({ try? ResourceURL($0) }), own.port == address.url.port,
            isOfMachine || own.host == address.url.host
        else { return false }
        return address.token == nil || server.needsToken == true
    }
}

extension CacheOptions {
    /// `texts`, URLs and whatever else names files, with the URLs behind addresses of this user's own server.
    ///
    /// Says on standard error what is taken in place of an address, whose token is shown nowhere.
    func behindOwn(_ texts: [String]) async throws -> [String] {
        guard texts.contains(where: OwnAddress.isLike) else { return texts }
        // Whatever goes wrong here, the command itself finds out.
        let client = try? await ControlClient.find(self)
        let own = OwnAddress(server: client?.report, port: try settings().value(.port, given: nil))
        return texts.map { text in
            guard let url = own.url(behind: text) else { return text }
            Terminal.error("reprise: That is an address of this cache's own server. Taken: \(URLText.redacted(url))")
            return url
        }
    }

    /// The same for one of them.
    func behindOwn(_ text: String) async throws -> String { try await behindOwn([text])[0] }
}
