import HTTPTypes
import NIOCore

/// Parses the head of a response line by line; RFC 9112 §4, §5 and §6.3.
///
/// Drops lines that are not valid fields. Replaces `Content-Length` and `Transfer-Encoding` with a single normalized
/// field that determines the length of the body.
struct ResponseHeadParser {
    struct Head {
        let response: HTTPResponse
        let framing: BodyFraming
        let keepsConnection: Bool
    }

    private struct Line {
        let number: Int
        let name: HTTPField.Name?
        var value: [UInt8]
    }

    /// Maximum number of fields.
    private static let mostFields = 4_096

    /// The number of the last parsed line, from 1.
    private(set) var number = 0
    /// A description of the first violation of RFC 9112; `nil` if there is none.
    private(set) var oddity: String?
    private var status: HTTPResponse.Status?
    private var isHTTP11 = false
    private var fields = HTTPFields()
    /// Lines with Content-Length, and lines with Transfer-Encoding.
    private var lengths: [Line] = []
    private var codings: [Line] = []
    /// The last field line, which the next line may continue; its name is `nil` if the line will be dropped.
    private var last: Line?

    /// Parses a line without its line feed, and returns whether it ends the head.
    mutating func take(_ line: ByteBufferView) throws(MalformedResponse) -> Bool {
        try check(beginning: line)
        number += 1
        guard !line.contains(0) else { throw malformed("has a NUL byte") }
        let text = line[..<(line.lastIndex { $0 != UInt8(ascii: "\r") }.map { $0 + 1 } ?? line.startIndex)]
        if line.count != text.count + 1 { note("does not end with CR LF") }
        guard status != nil else {
            if text.isEmpty { note("is empty, before the status line") } else { try takeStatus(text) }
            return false
        }
        guard let first = text.first else {
            try keepLast()
            return true
        }
        if first.isBlank {
            note("continues the line before")
            last?.value.append(UInt8(ascii: " "))
            last?.value.append(contentsOf: text.trimmingBlanks)
        } else {
            try keepLast()
            takeField(text)
        }
        return false
    }

    /// Throws if a partial first line cannot become a status line, without waiting for the rest of it.
    func check(beginning line: ByteBufferView) throws(MalformedResponse) {
        guard status == nil, !line.allSatisfy({ $0 == UInt8(ascii: "\r") }) else { return }
        let text = String(decoding: line.prefix(4), as: UTF8.self).uppercased()
        guard ["HTTP", "ICY"].contains(where: { $0.hasPrefix(text) || text.hasPrefix($0) }) else {
            throw malformed("is not the status line of HTTP", number + 1)
        }
    }

    /// Returns the parsed head of the response to a request with `method`.
    mutating func finish(_ method: HTTPRequest.Method) throws(MalformedResponse) -> Head {
        guard let status else { throw malformed("is not the status line of HTTP") }
        let length = try length()
        let framing: BodyFraming
        if try isChunked() {
            framing = .chunked
            fields.append(HTTPField(name: .transferEncoding, value: "chunked"))
            if let line = lengths.first { note("has a length, and the body is chunked", line.number) }
        } else {
            framing = length.map { .length($0) } ?? .untilClose
            if let length { fields.append(HTTPField(name: .contentLength, value: "\(length)")) }
        }
        let hasBody = method != .head && status.code != 204 && status.code != 304
        let options = fields[values: .connection].flatMap { value in
            value.utf8.split(separator: UInt8(ascii: ",")).map {
                String(decoding: $0.trimmingBlanks, as: UTF8.self).lowercased()
            }
        }
        return Head(
            response: HTTPResponse(status: status, headerFields: fields), framing: hasBody ? framing : .none,
            keepsConnection: !options.contains("close") && (isHTTP11 || options.contains("keep-alive")))
    }

    // MARK: Lines

    /// Parses a status line such as `HTTP/1.1 200 OK`.
    ///
    /// Any other version counts as HTTP/1.0, and so does the `ICY` of SHOUTcast servers.
    private mutating func takeStatus(_ line: ByteBufferView) throws(MalformedResponse) {
        let protocolName = line.prefix { !$0.isBlank }
        let name = String(decoding: protocolName, as: UTF8.self)
        guard name.uppercased().hasPrefix("HTTP") || name.uppercased() == "ICY" else {
            throw malformed("is not the status line of HTTP")
        }
        let rest = line[protocolName.endIndex...].trimmingBlanks
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        guard digits.count == 3, let code = Int(String(decoding: digits, as: UTF8.self)), code >= 100, code != 101
        else { throw malformed("has an unexpected status code") }
        let reason = rest[digits.endIndex...]
        isHTTP11 = name == "HTTP/1.1"
        let isExact =
            (isHTTP11 || name == "HTTP/1.0") && rest.startIndex == protocolName.endIndex + 1
            && reason.first?.isBlank != false && !reason.contains(where: Self.isControl)
        if !isExact { note("is not a status line of HTTP/1.1") }
        status = HTTPResponse.Status(code: code, reasonPhrase: Self.visible(reason.trimmingBlanks))
    }

    private mutating func takeField(_ line: ByteBufferView) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            note("has no colon")
            last = Line(number: number, name: nil, value: [])
            return
        }
        let spelled = line[..<colon]
        let name = spelled.trimmingBlanks
        if name.endIndex != spelled.endIndex { note("has a blank before its colon") }
        let fieldName = HTTPField.Name(String(decoding: name, as: UTF8.self))
        if fieldName == nil { note("has a name that is not a token") }
        last = Line(number: number, name: fieldName, value: Array(line[(colon + 1)...].trimmingBlanks))
    }

    private mutating func keepLast() throws(MalformedResponse) {
        guard let line = last else { return }
        last = nil
        guard let name = line.name else { return }
        var value = line.value
        if value.contains(where: Self.isControl) {
            note("has a control character", line.number)
            value = Array(value.map { Self.isControl($0) ? 0x20 : $0 }.trimmingBlanks)
        }
        switch name {
        case .contentLength: lengths.append(line)
        case .transferEncoding: codings.append(line)
        default: fields.append(HTTPField(name: name, value: value))
        }
        guard fields.count + lengths.count + codings.count <= Self.mostFields else {
            throw malformed("is behind \(Self.mostFields) fields; it has too many")
        }
    }

    // MARK: The length of the body

    /// Whether the body is chunked; ignores `identity` and `none`, and throws for any other transfer coding.
    private mutating func isChunked() throws(MalformedResponse) -> Bool {
        var count = 0
        for line in codings {
            for coding in Self.elements(line.value) {
                switch coding.lowercased() {
                case "chunked": count += 1
                case "identity", "none", "": note("has a transfer coding that is none", line.number)
                default: throw malformed("has a transfer coding that was not asked for; only chunked is", line.number)
                }
            }
        }
        if count > 1 || count == 1 && !isHTTP11 {
            note("has a transfer coding that should not be there", codings.first?.number)
        }
        return count > 0
    }

    /// The declared length; `nil` if it is missing, -1, or above 2^53.
    private mutating func length() throws(MalformedResponse) -> Int64? {
        var (length, hasLength): (Int64?, Bool) = (nil, false)
        for line in lengths {
            for element in Self.elements(line.value) {
                guard !element.isEmpty else {
                    note("has a Content-Length without a number", line.number)
                    continue
                }
                let value = try value(of: element, line.number)
                if hasLength {
                    guard value == length else { throw malformed("has another Content-Length", line.number) }
                    note("repeats the Content-Length", line.number)
                }
                (length, hasLength) = (value, true)
            }
        }
        return length
    }

    /// The number in `element`; `nil` for -1 and for numbers above 2^53, which servers send for endless bodies.
    ///
    /// Whatever follows the number is ignored, unless it has further digits other than `.0`.
    private mutating func value(of element: String, _ line: Int) throws(MalformedResponse) -> Int64? {
        let digits = element.utf8.dropFirst(element.hasPrefix("+") ? 1 : 0).prefix { (0x30...0x39).contains($0) }
        let rest = element.utf8[digits.endIndex...]
        let hasOtherDigits = rest.contains { (0x30...0x39).contains($0) } && !rest.elementsEqual(".0".utf8)
        guard element == "-1" || !digits.isEmpty && !hasOtherDigits else {
            throw malformed("has a Content-Length that is not a number", line)
        }
        let value = Int64(Substring(digits)).flatMap { $0 <= 1 << 53 ? $0 : nil }
        if digits.count != element.utf8.count || value == nil {
            note("has a Content-Length that is not a plain number up to 2^53", line)
        }
        return value
    }

    private static func elements(_ value: [UInt8]) -> [String] {
        value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map {
            String(decoding: $0.trimmingBlanks, as: UTF8.self)
        }
    }

    // MARK: Words

    private mutating func note(_ what: String, _ line: Int? = nil) {
        oddity = oddity ?? "Line \(line ?? number) of its head \(what)."
    }

    private func malformed(_ what: String, _ line: Int? = nil) -> MalformedResponse {
        MalformedResponse(line: line ?? number, reason: what)
    }

    private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x09 || byte == 0x7F }

    private static func visible(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: bytes.map { isControl($0) ? 0x20 : $0 }, as: UTF8.self)
    }
}
