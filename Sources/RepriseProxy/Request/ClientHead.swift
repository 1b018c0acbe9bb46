package import HTTPSemantics
package import HTTPTypes
import NIOCore

/// The validated head of one HTTP/1.1 request: RFC 9112 §2–§6, without the leniencies that enable request smuggling.
///
/// Fields are kept as positions in the received bytes; most requests need only three of them.
package struct ClientHead: Sendable {
    enum Method: Equatable, Sendable {
        case get, head, options
        case other(String)
    }

    /// What was received, shared by all copies of the head: one is made at most of the steps to an answer.
    private final class Received: Sendable {
        let method: Method
        let target: String
        let isHTTP11: Bool
        let bytes: ByteBuffer
        let places: [Place]
        let serverName: String

        init(
            method: Method, target: String, isHTTP11: Bool, bytes: ByteBuffer, places: [Place], serverName: String
        ) {
            self.method = method
            self.target = target
            self.isHTTP11 = isHTTP11
            self.bytes = bytes
            self.places = places
            self.serverName = serverName
        }
    }

    private var received: Received
    /// The request's complete body; empty for most.
    var body: [UInt8] = []
    /// Who sent it; `nil` if the server wants no token, and without a right one.
    var sender: Sender?
    /// The tokens of the server, which no origin is told; `nil` if it wants none.
    var tokens: TokenTexts?
    /// The recipient of the answer.
    var audience = Audience.player
    /// Whether the origin may know to which playback the request belongs.
    var tellsPlayback = true
    /// Whether another device sent it, from which the origin and the cache take nothing but the wish for a file.
    var isFromDevice = false
    /// Whether the request arrived over TLS.
    var isEncrypted = false
    /// Whether the connection ends with the answer, whatever the client wants.
    var endsConnection = false

    struct Place: Sendable {
        let nameStart: Int, nameEnd: Int, valueStart: Int, valueEnd: Int
    }

    init(method: Method, target: String, isHTTP11: Bool, bytes: ByteBuffer, places: [Place], serverName: String) {
        received = Received(
            method: method, target: target, isHTTP11: isHTTP11, bytes: bytes, places: places, serverName: serverName)
    }

    /// Number of bytes of memory that the request takes.
    var heldBytes: Int { received.bytes.storageCapacity + body.count }
    var method: Method { received.method }
    /// The request target as received.
    package var target: String { received.target }
    /// False for HTTP/1.0.
    var isHTTP11: Bool { received.isHTTP11 }
    /// What the server that got the request is called in `Via` and `Cache-Status`.
    var serverName: String { received.serverName }
    private var bytes: ByteBuffer { received.bytes }
    private var places: [Place] { received.places }

    /// The value of the field `name` (in lower case); several are joined with a comma (RFC 9110 §5.3).
    func value(_ name: StaticString) -> String? {
        bytes.withUnsafeReadableBytes { raw in
            var result: String?
            for place in places where Self.equal(raw[place.nameStart..<place.nameEnd], to: name) {
                let value = String(decoding: raw[place.valueStart..<place.valueEnd], as: UTF8.self)
                result = result.map { $0 + ", " + value } ?? value
            }
            return result
        }
    }

    /// Takes away every `Authorization`: it was meant for this server.
    mutating func removeAuthorization() {
        let others = bytes.withUnsafeReadableBytes { raw in
            places.filter { !Self.equal(raw[$0.nameStart..<$0.nameEnd], to: "authorization") }
        }
        received = Received(
            method: method, target: target, isHTTP11: isHTTP11, bytes: bytes, places: others, serverName: serverName)
    }

    /// Number of fields named `name` (in lower case).
    func count(_ name: StaticString) -> Int {
        bytes.withUnsafeReadableBytes { raw in
            places.count { Self.equal(raw[$0.nameStart..<$0.nameEnd], to: name) }
        }
    }

    /// The request's cache directives; `Pragma: no-cache` counts if Cache-Control is missing (RFC 9111 §5.4).
    package var directives: CacheControl {
        if isFromDevice { return CacheControl() }
        if let value = value("cache-control") { return CacheControl(value) }
        var directives = CacheControl()
        directives.noCache = value("pragma")?.lowercased().contains("no-cache") == true
        return directives
    }

    /// Whether ``directives`` are certainly empty.
    var hasNoDirectives: Bool { isFromDevice || count("cache-control") == 0 && count("pragma") == 0 }

    /// Every field.
    ///
    /// Values that HTTPTypes does not accept are left out.
    package var fields: HTTPFields {
        bytes.withUnsafeReadableBytes { raw in
            var fields = HTTPFields()
            for place in places {
                let name = String(decoding: raw[place.nameStart..<place.nameEnd], as: UTF8.self)
                guard let name = HTTPField.Name(name) else { continue }
                let value = String(decoding: raw[place.valueStart..<place.valueEnd], as: UTF8.self)
                fields.append(HTTPField(name: name, value: value))
            }
            return fields
        }
    }

    /// Signs of a browser in the request fields.
    private struct BrowserSigns: OptionSet {
        let rawValue: UInt8
        /// Fetch Metadata (W3C) or a service worker's field; programs don't send them.
        static let metadata = BrowserSigns(rawValue: 1)
        /// `Origin`, which names the requesting page.
        static let origin = BrowserSigns(rawValue: 2)
        /// A `User-Agent` that begins with `Mozilla/`, as those of all browsers and of many programs do.
        static let name = BrowserSigns(rawValue: 4)
    }

    private var browserSigns: BrowserSigns {
        bytes.withUnsafeReadableBytes { raw in
            var signs: BrowserSigns = []
            for place in places {
                let name = raw[place.nameStart..<place.nameEnd]
                switch name.count {
                case 6: if Self.equal(name, to: "origin") { signs.insert(.origin) }
                case 10:
                    let product = raw[place.valueStart..<min(place.valueEnd, place.valueStart + 8)]
                    if Self.equal(product, to: "mozilla/"), Self.equal(name, to: "user-agent") { signs.insert(.name) }
                case 14:
                    if Self.equal(name, to: "sec-fetch-site") || Self.equal(name, to: "sec-fetch-dest")
                        || Self.equal(name, to: "service-worker")
                    {
                        signs.insert(.metadata)
                    }
                default: break
                }
            }
            return signs
        }
    }

    /// Whether a browser may have sent the request, judged by any sign of a browser.
    var mayBeFromBrowser: Bool { !browserSigns.isEmpty }

    /// Whether a browser sent the request.
    ///
    /// Browsers send Fetch Metadata to addresses that they trust: TLS, and loopback. At such an address, a GET or HEAD
    /// without it is from a program, whatever its `User-Agent` and `Origin` are. At other addresses, `User-Agent`
    /// decides. Other methods with `Origin` always count as a browser's, because browsers from before 2023 may not send
    /// Fetch Metadata.
    var isFromBrowser: Bool {
        let signs = browserSigns
        if signs.contains(.metadata) { return true }
        if signs.contains(.origin), method != .get, method != .head { return true }
        return signs.contains(.name) && !hasTrustedAddress
    }

    /// Whether browsers trust the address in the request (W3C Secure Contexts §3.1).
    private var hasTrustedAddress: Bool {
        if isEncrypted { return true }
        guard let name = value("host").flatMap({ HostField($0)?.name }) else { return false }
        return name.lowercased() == "localhost" || ProxyConfiguration.isLoopback(address: name)
    }

    /// Whether AVPlayer sent this, or Safari for a video.
    ///
    /// Both name the playback in each request for a file of a stream (rfc8216bis, appendix D.4).
    var isFromAVPlayer: Bool {
        count("x-playback-session-id") > 0 || value("user-agent")?.hasPrefix("AppleCoreMedia/") == true
    }

    /// Whether the connection stays open after the response (RFC 9112 §9.3).
    var keepsAlive: Bool {
        if endsConnection { return false }
        guard let connection = value("connection")?.lowercased() else { return isHTTP11 }
        if connection.contains("close") { return false }
        return isHTTP11 || connection.contains("keep-alive")
    }

    private static func equal(_ bytes: Slice<UnsafeRawBufferPointer>, to name: StaticString) -> Bool {
        guard bytes.count == name.utf8CodeUnitCount else { return false }
        var pointer = name.utf8Start
        for byte in bytes {
            let lower = (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
            guard lower == pointer.pointee else { return false }
            pointer += 1
        }
        return true
    }
}
