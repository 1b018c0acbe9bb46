import Reprise

/// What connections are kept apart by.
struct Endpoint: Hashable {
    let scheme: ResourceURL.Scheme
    let host: String
    let port: Int

    init(_ url: ResourceURL) {
        scheme = url.scheme
        host = url.host
        port = url.port
    }

    /// `host:port` for messages.
    var name: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
