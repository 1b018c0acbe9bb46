public import HTTPTypes

extension CacheControl {
    /// The directives that apply to this cache: in a shared cache those of CDN-Cache-Control if it is present and valid
    /// (RFC 9213 §2.1), otherwise those of Cache-Control.
    public init(_ fields: HTTPFields, isShared: Bool) {
        self = (isShared ? Self.targeted(fields) : nil) ?? CacheControl(fields)
    }

    /// The directives of CDN-Cache-Control; `nil` if it is missing, empty or not a valid dictionary (RFC 9651 §3.2).
    static func targeted(_ fields: HTTPFields) -> CacheControl? {
        guard let name = HTTPField.Name("CDN-Cache-Control"), let value = fields[name],
            let members = StructuredDictionary(value)?.members, !members.isEmpty
        else { return nil }
        var control = CacheControl()
        for (key, value) in members { control.apply(key, value: value) }
        return control
    }

    private mutating func apply(_ key: String, value: StructuredDictionary.Value) {
        switch (key, value) {
        case ("max-age", .integer(let seconds)): maxAge = Self.clamped(seconds)
        case ("s-maxage", .integer(let seconds)): sharedMaxAge = Self.clamped(seconds)
        case ("stale-while-revalidate", .integer(let seconds)): staleWhileRevalidate = Self.clamped(seconds)
        case ("stale-if-error", .integer(let seconds)): staleIfError = Self.clamped(seconds)
        case ("no-store", .boolean(true)): noStore = true
        case ("no-cache", .boolean(true)): noCache = true
        case ("private", .boolean(true)): isPrivate = true
        case ("public", .boolean(true)): isPublic = true
        case ("must-revalidate", .boolean(true)): mustRevalidate = true
        case ("proxy-revalidate", .boolean(true)): proxyRevalidate = true
        case ("must-understand", .boolean(true)): mustUnderstand = true
        case ("immutable", .boolean(true)): isImmutable = true
        default: break
        }
    }

    private static func clamped(_ seconds: Int64) -> Int64 { min(max(0, seconds), longestTime) }
}

/// A dictionary of structured fields (RFC 9651 §3.2), as far as Cache-Control needs it: integer and boolean values are
/// kept, others only checked.
struct StructuredDictionary {
    enum Value: Equatable { case integer(Int64), boolean(Bool), other }

    private(set) var members: [String: Value] = [:]

    /// `nil` if the text violates the grammar; such a field counts as absent.
    init?(_ text: String) {
        var rest = Array(text.utf8)[...]
        Self.skip(&rest, anyOf: " ")
        while !rest.isEmpty {
            guard let key = Self.key(&rest) else { return nil }
            var value = Value.boolean(true)
            if rest.first == UInt8(ascii: "=") {
                rest.removeFirst()
                guard let item = Self.item(&rest) else { return nil }
                value = item
            }
            guard Self.parameters(&rest) else { return nil }
            members[key] = value
            Self.skip(&rest, anyOf: " \t")
            if rest.isEmpty { return }
            guard rest.popFirst() == UInt8(ascii: ",") else { return nil }
            Self.skip(&rest, anyOf: " \t")
            if rest.isEmpty { return nil }
        }
    }

    private static func skip(_ rest: inout ArraySlice<UInt8>, anyOf characters: String) {
        rest = rest.drop { characters.utf8.contains($0) }
    }

    private static func isLower(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func key(_ rest: inout ArraySlice<UInt8>) -> String? {
        guard let first = rest.first, isLower(first) || first == UInt8(ascii: "*") else { return nil }
        let name = rest.prefix { isLower($0) || isDigit($0) || "_-.*".utf8.contains($0) }
        rest = rest.dropFirst(name.count)
        return String(decoding: name, as: UTF8.self)
    }

    private static func parameters(_ rest: inout ArraySlice<UInt8>) -> Bool {
        while rest.first == UInt8(ascii: ";") {
            rest.removeFirst()
            skip(&rest, anyOf: " ")
            guard key(&rest) != nil else { return false }
            if rest.first == UInt8(ascii: "=") {
                rest.removeFirst()
                guard item(&rest) != nil else { return false }
            }
        }
        return true
    }

    private static func item(_ rest: inout ArraySlice<UInt8>) -> Value? {
        guard let first = rest.first else { return nil }
        switch first {
        case UInt8(ascii: "?"):
            let digit = rest.dropFirst().first
            guard digit == UInt8(ascii: "0") || digit == UInt8(ascii: "1") else { return nil }
            rest = rest.dropFirst(2)
            return .boolean(digit == UInt8(ascii: "1"))
        case UInt8(ascii: "\""): return string(&rest) ? .other : nil
        case UInt8(ascii: "-"), 0x30...0x39: return number(&rest)
        default:
            guard (0x41...0x5A).contains(first) || isLower(first) || first == UInt8(ascii: "*") else { return nil }
            rest = rest.drop {
                FieldScanner.isTokenCharacter($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/")
            }
            return .other
        }
    }

    private static func number(_ rest: inout ArraySlice<UInt8>) -> Value? {
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative { rest.removeFirst() }
        let digits = rest.prefix(while: isDigit)
        guard !digits.isEmpty, digits.count <= 15 else { return nil }
        rest = rest.dropFirst(digits.count)
        if rest.first == UInt8(ascii: ".") {
            let fraction = rest.dropFirst().prefix(while: isDigit)
            guard (1...3).contains(fraction.count), digits.count <= 12 else { return nil }
            rest = rest.dropFirst(1 + fraction.count)
            return .other
        }
        let magnitude = digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }
        return .integer(isNegative ? -magnitude : magnitude)
    }

    private static func string(_ rest: inout ArraySlice<UInt8>) -> Bool {
        rest.removeFirst()
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return true
            case UInt8(ascii: "\\"):
                guard let next = rest.popFirst(), next == UInt8(ascii: "\"") || next == UInt8(ascii: "\\") else {
                    return false
                }
            case 0x20...0x7E: break
            default: return false
            }
        }
        return false
    }
}
