import HTTPSemantics
import HTTPTypes
import NIOHTTP1
import Reprise

/// Creates the request head that is sent; RFC 9112 §3.
enum RequestHead {
    /// End-to-end fields that this client writes itself, or that announce a body.
    private static let own: Set<String> = ["host", "content-length", "expect", "http2-settings"]

    /// Creates a head with `Host` first, then the given fields without hop-by-hop ones, then missing ones.
    ///
    /// To an HTTP proxy an http request goes in absolute form, with the log-in of the proxy; RFC 9112 §3.2.2.
    /// Throws `invalidArgument` for CONNECT and TRACE, and for a field whose name or value could break out of its line.
    static func make(
        _ request: OriginRequest, configuration: NIOOrigin.Configuration
    ) throws(RepriseError) -> HTTPRequestHead {
        let method = HTTPMethod(rawValue: request.method.rawValue)
        guard method != .CONNECT, method != .TRACE else {
            throw RepriseError(.invalidArgument, "The origin cannot be sent \(request.method.rawValue).")
        }
        var headers = HTTPHeaders()
        headers.reserveCapacity(request.fields.count + 3)
        headers.add(name: "Host", value: request.url.authority)
        for field in request.fields.endToEnd where !own.contains(field.name.canonicalName) {
            guard isSafe(field) else {
                throw RepriseError(
                    .invalidArgument, "The request field \(field.name.canonicalName) holds a control character.")
            }
            headers.add(name: field.name.rawName, value: field.value)
        }
        if request.fields[.userAgent] == nil { headers.add(name: "User-Agent", value: configuration.userAgent) }
        if request.fields[.acceptEncoding] == nil { headers.add(name: "Accept-Encoding", value: "identity") }
        if !request.body.isEmpty || [.POST, .PUT, .PATCH].contains(method) {
            headers.add(name: "Content-Length", value: "\(request.body.count)")
        }
        var target = request.url.target
        if let proxy = configuration.forwardingProxy(for: request.url) {
            target = request.url.description
            if let login = proxy.authorization { headers.add(name: "Proxy-Authorization", value: login) }
        }
        return HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: headers)
    }

    /// HTTPTypes already keeps its fields clean; this is a second safeguard.
    private static func isSafe(_ field: HTTPField) -> Bool {
        !field.name.rawName.isEmpty && field.name.rawName.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3A }
            && field.value.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }
    }
}
