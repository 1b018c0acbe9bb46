/// A URI or a relative reference, split (RFC 3986 §3 and §4.1) and otherwise kept letter for letter.
///
/// Signatures break when a URL is spelled differently, so escapes, queries and the case of letters stay as they are.
/// Only bytes that no request line can carry are percent-encoded: white space, control characters and everything
/// beyond ASCII.
///
///     let base = URIReference("https://a.example/v/x/list.m3u8")
///     URIReference("../y/s.ts?k=%2f").resolved(against: base).text  // https://a.example/v/y/s.ts?k=%2f
package struct URIReference: Hashable, Sendable, CustomStringConvertible {
    /// The bytes, all of them visible ASCII.
    package let bytes: [UInt8]
    /// Offset of the colon after the scheme.
    private let schemeEnd: Int?
    /// The part between `//` and the path.
    private let authorityPlace: Range<Int>?
    private let pathPlace: Range<Int>
    /// Offset of the `?`, or of the end of the path if there is none.
    private let queryStart: Int
    /// Offset of the `#`, or the end.
    private let fragmentStart: Int

    /// Splits `reference`; every text is a reference of some kind.
    package init(_ reference: String) {
        self.init(bytes: Array(reference.utf8))
    }

    /// Splits `reference`; every text is a reference of some kind.
    package init(bytes reference: [UInt8]) {
        self.init(visible: Self.encoded(reference))
    }

    /// Splits bytes that are all visible ASCII.
    private init(visible: [UInt8]) {
        bytes = visible
        fragmentStart = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
        let query = bytes[..<fragmentStart].firstIndex(of: UInt8(ascii: "?")) ?? fragmentStart
        queryStart = query
        schemeEnd = Self.schemeEnd(bytes[..<query])
        let start = schemeEnd.map { $0 + 1 } ?? 0
        if bytes.hasPrefix("//", at: start), start + 2 <= query {
            let end = bytes[(start + 2)..<query].firstIndex(of: UInt8(ascii: "/")) ?? query
            authorityPlace = start + 2..<end
            pathPlace = end..<query
        } else {
            authorityPlace = nil
            pathPlace = start..<query
        }
    }

    /// The whole reference.
    package var text: String { String(decoding: bytes, as: UTF8.self) }
    /// The whole reference.
    package var description: String { text }

    /// The scheme in lower case; `nil` for a relative reference.
    package var scheme: String? {
        schemeEnd.map { String(decoding: bytes[..<$0].map(\.lowercased), as: UTF8.self) }
    }

    /// Host and port, with user information if there is any; `nil` without `//`.
    package var authority: String? { authorityPlace.map { bytes.text($0) } }

    /// The path, which may be empty.
    package var path: String { bytes.text(pathPlace) }

    /// The query without its `?`; `nil` if there is none, empty after a lone `?`.
    package var query: String? { queryPlace.map { bytes.text($0) } }

    /// The fragment without its `#`; `nil` if there is none.
    package var fragment: String? {
        fragmentStart < bytes.count ? bytes.text(fragmentStart + 1..<bytes.count) : nil
    }

    /// The reference without its fragment, as it is requested.
    package var withoutFragment: URIReference {
        fragmentStart < bytes.count ? URIReference(bytes: Array(bytes[..<fragmentStart])) : self
    }

    /// Whether it says of which host it is.
    package var namesHost: Bool { authorityPlace != nil }

    /// The same with `/` for an empty path (RFC 3986 §6.2.3).
    package var withPath: URIReference {
        guard pathPlace.isEmpty, authorityPlace != nil else { return self }
        return URIReference(
            visible: bytes[..<pathPlace.lowerBound] + [UInt8(ascii: "/")] + bytes[pathPlace.upperBound...])
    }

    /// The bytes before the query and the fragment.
    package var withoutQuery: ArraySlice<UInt8> { bytes[..<queryStart] }

    /// Whether the scheme is `http` or `https`.
    var isHTTP: Bool {
        guard let schemeEnd, schemeEnd == 4 || schemeEnd == 5 else { return false }
        let name: StaticString = "https"
        return (0..<schemeEnd).allSatisfy { bytes[$0].lowercased == name.utf8Start[$0] }
    }

    /// Whether something stands between `//` and the path.
    var hasAuthority: Bool { authorityPlace.map { !$0.isEmpty } ?? false }

    /// Whether the host follows a user name or a password.
    var hasUserInformation: Bool { authorityPlace.map { bytes[$0].contains(UInt8(ascii: "@")) } ?? false }

    /// Where the reference leads from a base of scheme `http` or `https`.
    package var form: Form {
        if schemeEnd != nil { return .absolute }
        if authorityPlace != nil { return .networkPath }
        if pathPlace.isEmpty {
            if queryPlace != nil { return .query }
            return fragmentStart < bytes.count ? .fragment : .empty
        }
        if bytes[pathPlace.lowerBound] == UInt8(ascii: "/") { return .absolutePath }
        return .relativePath(climbing: DotSegments.climb(bytes[pathPlace]))
    }

    /// The forms of RFC 3986 §4.2, and those of §4.4.
    package enum Form: Hashable, Sendable {
        /// `scheme:…`
        case absolute
        /// `//host/…`
        case networkPath
        /// `/…`
        case absolutePath
        /// `name`, `../name`: leaves so many directories at the farthest point of its way.
        case relativePath(climbing: Int)
        /// `?query`
        case query
        /// `#fragment`
        case fragment
        /// No text at all.
        case empty
    }

    /// Number of directories that enclose the last segment of the path: 2 for `/v/x/list.m3u8`.
    package var directoryDepth: Int {
        max(0, bytes[pathPlace].reduce(0) { $1 == UInt8(ascii: "/") ? $0 + 1 : $0 } - 1)
    }

    /// The URI that this reference stands for in a document at `base`, which must be absolute (RFC 3986 §5.2.2).
    ///
    /// A base without a scheme gives a reference without one.
    package func resolved(against base: URIReference) -> URIReference {
        if schemeEnd != nil, !DotSegments.mayOccur(in: bytes[pathPlace]) { return self }
        var parts = Parts()
        if schemeEnd != nil {
            parts = Parts(self, scheme: self)
        } else if authorityPlace != nil {
            parts = Parts(self, scheme: base)
        } else {
            parts = Parts(base, scheme: base, keepsPath: pathPlace.isEmpty)
            parts.fragment = bytes[fragmentStart...]
            if pathPlace.isEmpty {
                if queryPlace != nil { parts.query = bytes[queryStart..<fragmentStart] }
            } else {
                parts.query = bytes[queryStart..<fragmentStart]
                let merged = bytes[pathPlace.lowerBound] == UInt8(ascii: "/") ? Array(bytes[pathPlace]) : merged(base)
                parts.path = DotSegments.removed(from: merged[...])
            }
        }
        return URIReference(visible: parts.joined)
    }

    /// RFC 3986 §5.2.3.
    private func merged(_ base: URIReference) -> [UInt8] {
        let directory = base.bytes[base.pathPlace]
        if directory.isEmpty, base.authorityPlace != nil { return [UInt8(ascii: "/")] + bytes[pathPlace] }
        guard let slash = directory.lastIndex(of: UInt8(ascii: "/")) else { return Array(bytes[pathPlace]) }
        return Array(directory[...slash]) + bytes[pathPlace]
    }

    private var queryPlace: Range<Int>? { queryStart < fragmentStart ? queryStart + 1..<fragmentStart : nil }

    /// RFC 3986 §3.1: a letter, then letters, digits, `+`, `-` and `.`, up to a colon.
    private static func schemeEnd(_ bytes: ArraySlice<UInt8>) -> Int? {
        guard let first = bytes.first, first.isLetter else { return nil }
        for (index, byte) in zip(bytes.indices, bytes) {
            if byte == UInt8(ascii: ":") { return index }
            guard byte.isLetter || byte.isDigit || byte == 0x2B || byte == 0x2D || byte == 0x2E else { return nil }
        }
        return nil
    }

    private static func encoded(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(where: { $0 <= 0x20 || $0 >= 0x7F }) else { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + 16)
        for byte in bytes {
            if byte <= 0x20 || byte >= 0x7F { result.appendEscape(of: byte) } else { result.append(byte) }
        }
        return result
    }

    /// The parts of a result, each with the characters that set it off.
    private struct Parts {
        var scheme: ArraySlice<UInt8> = []
        var authority: ArraySlice<UInt8> = []
        var path: [UInt8] = []
        var query: ArraySlice<UInt8> = []
        var fragment: ArraySlice<UInt8> = []

        init() {}

        init(_ reference: URIReference, scheme source: URIReference, keepsPath: Bool = true) {
            if let end = source.schemeEnd { scheme = source.bytes[...end] }
            if let place = reference.authorityPlace {
                authority = reference.bytes[place.lowerBound - 2..<place.upperBound]
            }
            if keepsPath { path = DotSegments.removed(from: reference.bytes[reference.pathPlace]) }
            query = reference.bytes[reference.queryStart..<reference.fragmentStart]
            fragment = reference.bytes[reference.fragmentStart...]
        }

        /// RFC 3986 §5.3.
        var joined: [UInt8] {
            var result = Array(scheme)
            result.reserveCapacity(scheme.count + authority.count + path.count + query.count + fragment.count)
            result += authority
            result += path
            result += query
            result += fragment
            return result
        }
    }
}

extension [UInt8] {
    /// Appends the percent-encoded form of `byte` (RFC 3986 §2.1).
    mutating func appendEscape(of byte: UInt8) {
        append(UInt8(ascii: "%"))
        append(Self.hexadecimalDigits[Int(byte >> 4)])
        append(Self.hexadecimalDigits[Int(byte & 15)])
    }

    private static let hexadecimalDigits = Array("0123456789ABCDEF".utf8)
}

extension URIReference {
    /// The percent-decoded value of the first query parameter of this name; `nil` if it is missing.
    ///
    /// `EXT-X-DEFINE` with `QUERYPARAM` reads it (rfc8216bis §4.4.2.3). A plus sign is itself. An escape without two
    /// hexadecimal digits stays as it is.
    package func queryValue(_ name: [UInt8]) -> [UInt8]? {
        guard let query else { return nil }
        for pair in Array(query.utf8).split(separator: UInt8(ascii: "&")) {
            let key = pair.prefix { $0 != UInt8(ascii: "=") }
            guard Self.decoded(key) == name else { continue }
            return Self.decoded(pair.dropFirst(key.count + 1))
        }
        return nil
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            if bytes[index] == UInt8(ascii: "%"), bytes.endIndex - index > 2,
                let high = bytes[index + 1].hexadecimalValue, let low = bytes[index + 2].hexadecimalValue
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result
    }
}
