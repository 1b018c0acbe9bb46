import ArgumentParser
import Foundation
import Reprise
import RepriseHTTPClient
import RepriseProxy

/// The address through which players of this machine reach the server of a cache.
struct PlayerAddress {
    /// The scheme, host and port, and the token if the server requires one: `http://127.0.0.1:8090/TOKEN`.
    let server: String
    /// Recognizes addresses of the server, also those with an earlier token.
    private let own: OwnAddress

    /// The address of the running server that uses the cache in `options`, or of the one that the settings describe.
    ///
    /// Players reach it at `given` if there is one. Throws an error with code 64 if the server requires a token, and
    /// `token` is none of its tokens.
    init(_ given: String? = nil, token: String?, of options: CacheOptions) async throws {
        let settings = try options.settings()
        var token = try settings.value(.token, given: token)
        // Without an answer, the server is assumed at the address of the settings.
        let report = await (try? ControlClient.find(options))?.report
        let isRefused: Bool
        if let report {
            if report.needsToken != true { token = nil }
            isRefused = report.needsToken == true && token.map(report.isToken) != true
        } else {
            isRefused = try token == nil && settings.value(.tokenFile, given: nil) != nil
        }
        if isRefused {
            throw RepriseError(.invalidArgument, "The server requires one of its tokens: give it with --token.")
        }
        let address =
            try given.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 } ?? report?.address
            ?? Self.configured(settings)
        server = address + (token.map { "/\($0)" } ?? "")
        own = OwnAddress(server: report, port: try settings.value(.port, given: nil))
    }

    /// The address of the server that `settings` describe, without its token.
    static func configured(_ settings: Settings) throws -> String {
        let host = try settings.value(.host, given: nil)
        let port = try settings.value(.port, given: nil)
        let reached = ["0.0.0.0": "127.0.0.1", "::": "::1"][host] ?? host
        guard let certificate = try settings.value(.tlsCertificate, given: nil) else {
            return "http://\(reached.contains(":") ? "[\(reached)]" : reached):\(port)"
        }
        let names = try ServerCertificate.names(in: (certificate as NSString).expandingTildeInPath)
        return "https://\(names.host(for: reached)):\(port)"
    }

    /// The address of `url` on the server.
    func callAsFunction(_ url: ResourceURL) -> String { url.through(server) }

    /// Whether `text` is the address of a URL on the server.
    func isOwn(_ text: String) -> Bool { text.hasPrefix(server + "/") || own.url(behind: text) != nil }
}
