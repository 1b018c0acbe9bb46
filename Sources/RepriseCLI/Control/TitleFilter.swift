import Foundation
import Reprise
import RepriseProxy

/// Which titles and files a removal is about, apart from those that are named one by one: all of these must hold.
struct TitleFilter: Sendable, Equatable {
    /// `nil` for all hosts.
    private let host: HostMatch?
    /// `nil` for all URLs.
    private let prefix: URLPrefix?
    /// `nil` for titles with any tag and with none.
    let tag: String?
    /// `nil` for any age.
    let unusedFor: Duration?

    /// The longest time that an option takes, in seconds: so many weeks.
    static let longestAge = Int64(Int32.max) * 604_800

    /// `nil` if nothing is said; `olderThan` is in seconds.
    ///
    /// Throws ``RepriseError`` with code `invalidArgument` for what is no host, no prefix, no tag or no age.
    init?(host: String?, prefix: String?, tag: String?, olderThan: Int64?) throws(RepriseError) {
        guard host != nil || prefix != nil || tag != nil || olderThan != nil else { return nil }
        if let host { self.host = try HostMatch(host) } else { self.host = nil }
        if let prefix { self.prefix = try URLPrefix(prefix) } else { self.prefix = nil }
        if tag == "" { throw RepriseError(.invalidArgument, "The tag is empty.") }
        if let olderThan, !(1...Self.longestAge ~= olderThan) {
            throw RepriseError(.invalidArgument, "An age is at least one second, and at most \(Self.longestAge).")
        }
        (self.tag, unusedFor) = (tag, olderThan.map { .seconds($0) })
    }

    /// Whether single files of streams are meant, too: those that lie under a host or a prefix.
    var concernsFiles: Bool { tag == nil && (host != nil || prefix != nil) }

    /// Whether a title or a file is meant that was last used at `lastUsed`; `nil` if nothing of it is stored.
    func matches(_ url: ResourceURL, tag: String?, lastUsed: Date?, now: Date) -> Bool {
        if let host, !host.matches(url) { return false }
        if let prefix, !prefix.matches(url) { return false }
        if let wanted = self.tag, tag != wanted { return false }
        guard let unusedFor else { return true }
        guard let lastUsed else { return false }
        return now.timeIntervalSince(lastUsed) > unusedFor / .seconds(1)
    }
}

/// A host as `--host` takes it: one name, or a name with all its subdomains; all of its ports, or one.
struct HostMatch: Sendable, Equatable {
    private let name: String
    private let port: Int?

    /// Throws ``RepriseError`` with code `invalidArgument` for what is no host.
    init(_ text: String) throws(RepriseError) {
        let (name, port) = Self.split(text)
        if let port {
            guard !port.isEmpty, port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(port),
                1...65_535 ~= number
            else { throw Self.error(text, "what follows the colon is not a port; ports are 1 to 65535.") }
            self.port = number
        } else {
            self.port = nil
        }
        if let objection = ProxyConfiguration.objection(toHost: name) { throw Self.error(text, objection) }
        self.name = name.lowercased()
    }

    /// Whether `url` lies there.
    func matches(_ url: ResourceURL) -> Bool {
        HostPattern.covers(name, url.host) && (port ?? url.port) == url.port
    }

    /// The name, and what follows the colon after it; an IPv6 address has brackets if a port follows.
    private static func split(_ text: String) -> (name: String, port: Substring?) {
        if text.hasPrefix("["), let close = text.firstIndex(of: "]") {
            let rest = text[text.index(after: close)...]
            if rest.isEmpty || rest.hasPrefix(":") {
                return (String(text[..<close].dropFirst()), rest.isEmpty ? nil : rest.dropFirst())
            }
        }
        guard text.count(where: { $0 == ":" }) == 1, let colon = text.firstIndex(of: ":"), !text.contains("/") else {
            return (text, nil)
        }
        return (String(text[..<colon]), text[text.index(after: colon)...])
    }

    private static func error(_ text: String, _ objection: String) -> RepriseError {
        RepriseError(.invalidArgument, "\"\(text.prefix(64))\" is not a host: \(objection)")
    }
}

/// The beginning of URLs as `--prefix` takes it: scheme, host and port, and whole segments of the path.
struct URLPrefix: Sendable, Equatable {
    private let url: ResourceURL

    /// Throws ``RepriseError`` with code `invalidURL` or `invalidArgument` for what is no URL, or has a query.
    init(_ text: String) throws(RepriseError) {
        // A fragment would be dropped, and more would match than was written.
        guard !text.contains("?"), !text.contains("#") else {
            throw RepriseError(
                .invalidArgument, "A prefix ends before the query: leave out what follows the ? or the #.")
        }
        url = try ResourceURL(text)
    }

    /// Whether `other` lies under it: its path is the same, or goes on with a slash; the path is compared as it is
    /// spelled, without the query.
    func matches(_ other: ResourceURL) -> Bool {
        guard (other.scheme, other.host, other.port) == (url.scheme, url.host, url.port) else { return false }
        let path = other.target.prefix { $0 != "?" }
        guard path.utf8.starts(with: url.target.utf8) else { return false }
        return path.utf8.count == url.target.utf8.count || url.target.hasSuffix("/")
            || path.utf8.dropFirst(url.target.utf8.count).first == UInt8(ascii: "/")
    }
}
