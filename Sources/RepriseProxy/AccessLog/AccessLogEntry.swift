import HTTPSemantics
import Reprise

/// An answer as a line of an access log: pure text, whatever clients and origins wrote.
struct AccessLogEntry: Sendable {
    let request: LoggedRequest
    /// The status, or ``noStatus``.
    let status: Int
    /// Bytes of the body that were passed on.
    let bytes: Int64
    /// Bytes of media that reads gave for the answer, by their source.
    let served: SourceBytes
    /// Time until the first bytes were passed on.
    let firstByte: Duration?
    /// Time until the last ones were.
    let duration: Duration
    /// The name of the client's token; `nil` without one.
    let tokenName: String?
    /// The Cache-Status that was sent.
    let cacheStatus: String?

    /// Logged as status if the client left before there was one, as in nginx.
    static let noStatus = 499

    /// Most characters of a value that clients and origins choose; a URL may have more.
    private static let longest = 256
    private static let longestURL = 4096

    /// Approximate memory that it takes while it waits, in bytes.
    var weight: Int {
        let texts = [request.url, request.method, request.range, request.userAgent, cacheStatus]
        return texts.reduce(512) { $0 + ($1?.utf8.count ?? 0) }
    }

    /// The line, with its end.
    func line(as format: AccessLogFormat) -> String {
        switch format {
        case .json: json
        case .combined: combined
        }
    }

    // MARK: - JSON

    private var json: String {
        var line = "{\"time\":\"\(LogTime.iso(request.time))\""
        func add(_ name: String, _ value: String?, atMost length: Int = Self.longest) {
            guard let value else { return }
            line += ",\"\(name)\":\"\(Self.jsonEscaped(Self.cut(value, length)))\""
        }
        func add(_ name: String, _ value: Int64) { line += ",\"\(name)\":\(value)" }
        func add(_ name: String, _ value: Duration) { line += ",\"\(name)\":\(Self.milliseconds(value))" }
        add("client", request.client)
        add("tokenName", tokenName)
        add("method", request.method)
        add("url", request.url, atMost: Self.longestURL)
        add("range", request.range)
        add("status", Int64(status))
        add("bytes", bytes)
        add("storeBytes", served.store)
        add("joinedBytes", served.joined)
        add("originBytes", served.origin)
        if let firstByte { add("firstByteMilliseconds", firstByte) }
        add("milliseconds", duration)
        add("cacheStatus", cacheStatus)
        add("userAgent", request.userAgent)
        add("trace", request.trace)
        return line + "}\n"
    }

    /// With three digits behind the point; below zero counts as zero.
    private static func milliseconds(_ duration: Duration) -> String {
        let microseconds = Int64(max(0, duration / .microseconds(1)))
        let rest = "\(1000 + microseconds % 1000)".dropFirst()
        return "\(microseconds / 1000).\(rest)"
    }

    /// RFC 8259 §7; also without the characters that some programs take for the end of a line.
    private static func jsonEscaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": escaped += "\\" + String(scalar)
            case "\u{00}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    // MARK: - Combined

    /// Without the referrer, which may have secrets in its query.
    private var combined: String {
        let (method, url) = (Self.escaped(request.method, Self.longest), Self.escaped(request.url, Self.longestURL))
        let agent = request.userAgent.map { Self.escaped($0, Self.longest) } ?? "-"
        return """
            \(request.client ?? "-") - \(tokenName ?? "-") [\(LogTime.common(request.time))] "\(method) \(url) \(request.version)" \
            \(status) \(bytes) "-" "\(agent)"\n
            """
    }

    /// As nginx writes it: quotation marks, backslashes, controls and what is not ASCII in hexadecimal.
    private static func escaped(_ text: String, _ length: Int) -> String {
        var escaped = ""
        for byte in cut(text, length).utf8 {
            switch byte {
            case 0x20...0x7E where byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\"):
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                escaped += "\\x" + (digits.count < 2 ? "0" : "") + digits
            }
        }
        return escaped
    }

    private static func cut(_ text: String, _ length: Int) -> String {
        text.unicodeScalars.count > length
            ? String(String.UnicodeScalarView(text.unicodeScalars.prefix(length - 1))) + "…" : text
    }
}

/// The form of the lines of an access log.
package enum AccessLogFormat: String, Sendable, CaseIterable {
    /// A JSON object with everything.
    case json
    /// The combined log format of Apache and nginx, which programs that evaluate logs read.
    case combined
}

/// Formats times for access logs, in UTC.
enum LogTime {
    /// RFC 3339, to the millisecond.
    static func iso(_ time: Double) -> String {
        let fraction = time.isFinite ? time - time.rounded(.down) : 0
        let milliseconds = "\(1000 + Int(fraction * 1000))".dropFirst()
        return "\(date(time).iso8601.dropLast()).\(milliseconds)Z"
    }

    /// As in the common log format, such as `06/Nov/1994:08:49:37 +0000`.
    static func common(_ time: Double) -> String {
        // The date as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT`.
        let words = date(time).description.split(separator: " ")
        return "\(words[1...3].joined(separator: "/")):\(words[4]) +0000"
    }

    /// The second of `time`; 1970 if it is not a valid time.
    private static func date(_ time: Double) -> HTTPDate {
        HTTPDate(secondsSince1970: Int64(exactly: time.rounded(.down)) ?? 0)
    }
}
