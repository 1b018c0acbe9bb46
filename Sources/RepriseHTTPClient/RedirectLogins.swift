import HTTPTypes
import Primitives
import Reprise

/// The log-ins in the targets of redirects, such as `http://name:password@host/list.m3u8`.
///
/// Players also use them for the segments of that playlist. They are sent only after a 401 from the same scheme, host
/// and port, and kept only in memory.
final class RedirectLogins: Sendable {
    /// Maximum number of servers.
    private static let most = 256

    /// The values of Authorization, by scheme, host and port; a leaf lock.
    private let values = Mutex<[String: String]>([:])

    private static func server(of url: ResourceURL) -> String { "\(url.scheme.rawValue)://\(url.authority)" }

    /// Remembers a log-in that `url` has accepted.
    func note(_ value: String, at url: ResourceURL) {
        let server = Self.server(of: url)
        values.withLock { values in
            if values.count >= Self.most, values[server] == nil { values.removeAll() }
            values[server] = value
        }
    }

    /// `request` with the log-in for its server; `nil` if there is none, or it has another one already.
    func adding(to request: OriginRequest) -> OriginRequest? {
        let server = Self.server(of: request.url)
        guard request.fields[.authorization] == nil, let value = values.withLock({ $0[server] }) else { return nil }
        var request = request
        request.fields[.authorization] = value
        return request
    }
}
