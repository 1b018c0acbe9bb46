/// Reads a field value byte by byte; no step traps, whatever the bytes.
///
/// White space around the value is dropped (RFC 9110 §5.5). A step that fails leaves the position unchanged, unless its
/// comment says otherwise.
struct FieldScanner {
    /// Longest value that any parser here accepts, in bytes: above what servers accept for a whole header line.
    static let longestValue = 8192

    private let bytes: [UInt8]
    private(set) var position = 0

    /// `nil` for a value longer than ``longestValue``.
    init?(_ value: String) {
        guard value.utf8.count <= Self.longestValue else { return nil }
        let untrimmed = Array(value.utf8)
        let first = untrimmed.firstIndex { !Self.isWhitespace($0) } ?? untrimmed.endIndex
        let last = untrimmed.lastIndex { !Self.isWhitespace($0) } ?? first
        bytes = first < untrimmed.endIndex ? Array(untrimmed[first...last]) : []
    }

    var isAtEnd: Bool { position == bytes.count }

    var next: UInt8? { isAtEnd ? nil : bytes[position] }

    /// Consumes the next byte, if there is one.
    mutating func take() -> UInt8? {
        guard let byte = next else { return nil }
        position += 1
        return byte
    }

    /// Consumes `literal`, compared byte by byte, and returns whether it was there.
    mutating func skip(_ literal: StaticString) -> Bool {
        let length = literal.utf8CodeUnitCount
        guard length <= bytes.count - position else { return false }
        let matches = literal.withUTF8Buffer { $0.elementsEqual(bytes[position..<position + length]) }
        if matches { position += length }
        return matches
    }

    /// Skips bytes up to, not including, the first `byte`, or to the end.
    mutating func skip(to byte: UInt8) {
        position = bytes[position...].firstIndex(of: byte) ?? bytes.count
    }

    /// Skips optional white space (RFC 9110 §5.6.3).
    mutating func skipWhitespace() {
        while let byte = next, Self.isWhitespace(byte) { position += 1 }
    }

    /// Consumes the longest run of bytes that satisfy `predicate`; `nil` if it is empty.
    mutating func run(where predicate: (UInt8) -> Bool) -> ArraySlice<UInt8>? {
        let start = position
        while let byte = next, predicate(byte) { position += 1 }
        return start == position ? nil : bytes[start..<position]
    }

    /// A token (RFC 9110 §5.6.2).
    mutating func token() -> String? {
        run(where: Self.isTokenCharacter).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A quoted-string without its quotes and escapes (RFC 9110 §5.6.4).
    mutating func quotedString() -> String? {
        let start = position
        guard skip("\"") else { return nil }
        var text: [UInt8] = []
        while let byte = take() {
            if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            guard let escaped = take() else { break }
            text.append(escaped)
        }
        position = start
        return nil
    }

    /// A comma-separated list, ignoring empty elements, up to the end of the value (RFC 9110 §5.6.1.2).
    ///
    /// `element` reads one element and returns whether it was valid; the first invalid one ends the list with `false`.
    mutating func list(_ element: (inout FieldScanner) -> Bool) -> Bool {
        while true {
            skipWhitespace()
            if isAtEnd { return true }
            if skip(",") { continue }
            guard element(&self) else { return false }
            skipWhitespace()
            guard isAtEnd || skip(",") else { return false }
        }
    }

    static func isWhitespace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }

    static func isDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }

    static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        default: isDigit(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
