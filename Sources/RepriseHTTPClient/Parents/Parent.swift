import Foundation
import HTTPTypes
package import Reprise

/// A server of Reprise that is asked in place of origins, or a balancer in front of several.
package struct Parent: Hashable, Sendable {
    /// Its address, and its token if it wants one.
    private let base: ResourceURL

    /// Parses `http://host:port` or `https://host:port`, followed by `/TOKEN` if the server wants a token.
    ///
    /// Throws ``RepriseError`` with code `invalidURL`; the message says why, without the token.
    package init(_ text: String) throws(RepriseError) {
        let base = try ResourceURL(text)
        let segments = base.target.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        let hasToken = segments.count == 1 || segments.count == 2 && segments.first != "" && segments.last == ""
        guard hasToken, !base.target.contains("?"), !text.contains("#") else {
            throw RepriseError(.invalidURL, "A parent is http://host:port or http://host:port/TOKEN.")
        }
        self.base = base
    }

    /// `text`, which may be no address, without what may be a token or a log-in.
    package static func withoutSecrets(_ text: String) -> String {
        var scheme = text.startIndex..<text.startIndex
        if let slashes = text.range(of: "://"), text[..<slashes.lowerBound].allSatisfy(\.isLetter) {
            scheme = text.startIndex..<slashes.upperBound
        }
        let rest = text[scheme.upperBound...]
        let at = rest.lastIndex(of: "@")
        // Whether a slash before it belongs to a password or to a path is not known: then nothing behind it is shown.
        let isClear = at.map { !rest[..<$0].contains { "/?#".contains($0) } } ?? true
        guard isClear else { return "\(text[scheme])<hidden>" }
        let server = rest[(at ?? rest.startIndex)...]
        let path = server.firstIndex { "/?#".contains($0) } ?? server.endIndex
        let hasMore = path < server.endIndex && server.index(after: path) < server.endIndex
        let login = at == nil ? "" : "<hidden>"
        let shown = hasMore ? "\(server[...path])<hidden>" : String(server)
        return "\(text[scheme])\(login)\(shown)"
    }

    /// Host and port.
    package var authority: String { base.authority }

    var isOnThisMachine: Bool { LiteralHost.isThisMachine(base.host) }

    /// The address without the token.
    package var address: String { "\(base.scheme.rawValue)://\(base.authority)" }

    /// What stands before the scheme of an origin.
    private var prefix: String { base.description.hasSuffix("/") ? base.description : base.description + "/" }

    /// The URL of one of the server's own paths, such as `-/status.json`, behind its token.
    package func url(of path: String) throws(RepriseError) -> ResourceURL { try ResourceURL(prefix + path) }

    /// Where it says whether it is ready, which needs no token.
    package var probe: ResourceURL {
        get throws(RepriseError) { try ResourceURL(address + "/-/ready") }
    }

    /// `request` as the edge called `name` sends it here.
    ///
    /// Throws ``RepriseError`` with code `invalidURL` if the URL would be too long.
    func request(for request: OriginRequest, from name: String, via: String) throws(RepriseError) -> OriginRequest {
        var own = request
        own.url = try ResourceURL(
            "\(prefix)\(request.url.scheme.rawValue)/\(request.url.authority)\(request.url.target)")
        own.fields[EdgeFields.edge] = name
        own.context.authenticate = nil
        // A client's request brings those of all servers on its way; one of the cache's own has none yet.
        if own.fields[EdgeFields.via] == nil { own.fields[EdgeFields.via] = via }
        return own
    }

    /// How much this parent is preferred for the file at `url`: the highest value counts (rendezvous hashing), so that
    /// every edge asks the same one, and only the files of one that is taken away find another.
    ///
    /// Without the query: every signature of a file meets the same one.
    func weight(for url: ResourceURL) -> UInt64 {
        let path = url.target.prefix { $0 != "?" }
        return Array("\(base.authority) \(url.authority)\(path)".utf8).withUnsafeBytes { XXHash64.checksum(of: $0) }
    }
}
