import Reprise

/// The key by which connections are kept apart.
struct Endpoint: Hashable {
    let scheme: ResourceURL.Scheme
    let host: String
    let port: Int

    init(_ url: ResourceURL) {
        scheme = url.scheme
        host = url.host
        port = url.port
    }

    /// `host:port`, for messages.
    var name: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
