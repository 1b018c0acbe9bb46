import HTTPSemantics
import HTTPTypes
import NIOCore
import Reprise

/// A request head in its wire format; RFC 9112 §3.
struct RequestHead: Sendable {
    let method: HTTPRequest.Method
    /// The encoded head, including the terminating empty line.
    let bytes: ByteBuffer

    /// End-to-end fields that this client writes itself, or that announce a body.
    private static let own: Set<String> = ["host", "content-length", "expect", "http2-settings"]

    /// Creates a head with `Host` first, then the given fields without hop-by-hop ones, then missing ones.
    ///
    /// To an HTTP proxy an http request goes in absolute form, with the log-in of the proxy; RFC 9112 §3.2.2.
    /// Throws `invalidArgument` for CONNECT and TRACE, and for a field whose name or value could break out of its line.
    init(_ request: OriginRequest, configuration: NIOOrigin.Configuration) throws(RepriseError) {
        method = request.method
        guard method != .connect, method != .trace, HTTPField.Name(method.rawValue) != nil else {
            throw RepriseError(.invalidArgument, "The origin cannot be sent \(method.rawValue).")
        }
        let proxy = configuration.forwardingProxy(for: request.url)
        var bytes = ByteBuffer()
        bytes.writeString(
            "\(method.rawValue) \(proxy == nil ? request.url.target : request.url.description) HTTP/1.1\r\n")
        func write(_ name: String, _ value: String) { bytes.writeString("\(name): \(value)\r\n") }
        write("Host", request.url.authority)
        for field in request.fields.endToEnd where !Self.own.contains(field.name.canonicalName) {
            guard Self.isSafe(field) else {
                throw RepriseError(
                    .invalidArgument, "The request field \(field.name.canonicalName) holds a control character.")
            }
            bytes.writeString(field.name.rawName + ": ")
            field.withUnsafeBytesOfValue { _ = bytes.writeBytes($0) }
            bytes.writeString("\r\n")
        }
        if request.fields[.userAgent] == nil { write("User-Agent", configuration.userAgent) }
        if request.fields[.acceptEncoding] == nil { write("Accept-Encoding", "identity") }
        if !request.body.isEmpty || [.post, .put, .patch].contains(method) {
            write("Content-Length", "\(request.body.count)")
        }
        if let login = proxy?.authorization { write("Proxy-Authorization", login) }
        bytes.writeString("\r\n")
        self.bytes = bytes
    }

    /// HTTPTypes already keeps its fields clean; this is a second safeguard.
    private static func isSafe(_ field: HTTPField) -> Bool {
        !field.name.rawName.isEmpty && field.name.rawName.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3A }
            && field.withUnsafeBytesOfValue { $0.allSatisfy { ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 } }
    }
}
