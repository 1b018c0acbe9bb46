public import HTTPTypes

/// How the cache handled one request: a member of the Cache-Status list (RFC 9211 §2).
public struct CacheStatus: Sendable, Hashable {
    /// Why a request went to the origin (RFC 9211 §2.2).
    public enum ForwardReason: String, Sendable, Hashable, CaseIterable {
        /// The cache was told not to handle it.
        case bypass
        /// The method's semantics require it.
        case method
        /// Nothing is stored for the URL.
        case uriMiss = "uri-miss"
        /// Something is stored for the URL, but not for these request fields.
        case varyMiss = "vary-miss"
        /// No stored response matches.
        case miss
        /// The stored response is fresh, but the request's directives did not allow its use.
        case request
        /// The stored response is stale.
        case stale
        /// Some of the requested bytes are stored, but not all.
        case partial
    }

    /// How the request was handled.
    public enum Handling: Sendable, Hashable {
        /// Answered from the store, without the origin.
        case hit
        /// Answered without store or origin: neither was allowed, or neither had the response.
        case unanswered
        /// Sent to the origin, which answered with `status`, if that is worth reporting.
        case forwarded(ForwardReason, status: Int? = nil)
    }

    /// The name of a cache in the list, if it was given no other one.
    public static let cacheName = "reprise"
    /// Maximum length of ``detail`` when printed, in characters.
    static let longestDetail = 256

    /// How the request was handled.
    public var handling: Handling
    /// Whether the response of the origin was stored.
    public var isStored: Bool
    /// Whether the request waited for another one's fetch.
    public var isCollapsed: Bool
    /// Seconds of freshness left; negative if stale.
    public var timeToLive: Int64?
    /// Details for people; anything but visible ASCII and spaces is printed as `?`.
    public var detail: String?
    /// The name of the cache in the list.
    package var name = cacheName

    /// Creates a member of the list.
    public init(
        _ handling: Handling, isStored: Bool = false, isCollapsed: Bool = false, timeToLive: Int64? = nil,
        detail: String? = nil
    ) {
        self.handling = handling
        self.isStored = isStored
        self.isCollapsed = isCollapsed
        self.timeToLive = timeToLive
        self.detail = detail
    }
}

extension CacheStatus: CustomStringConvertible {
    /// The member with its parameters: `reprise; fwd=partial; fwd-status=206; stored; collapsed`.
    public var description: String {
        var parts = [Self.structured(name)]
        switch handling {
        case .hit: parts.append("hit")
        case .unanswered: break
        case .forwarded(let reason, let status):
            parts.append("fwd=\(reason.rawValue)")
            if let status { parts.append("fwd-status=\(status)") }
        }
        if isStored { parts.append("stored") }
        if isCollapsed { parts.append("collapsed") }
        if let timeToLive { parts.append("ttl=\(Self.structuredInteger(timeToLive))") }
        if let detail { parts.append("detail=\(Self.structured(detail))") }
        return parts.joined(separator: "; ")
    }

    /// Integers of structured fields have at most 15 digits (RFC 9651 §3.3.1).
    private static func structuredInteger(_ number: Int64) -> Int64 {
        min(max(number, -999_999_999_999_999), 999_999_999_999_999)
    }

    /// A token if the text is one, otherwise a string (RFC 9651 §3.3.3, §3.3.4).
    private static func structured(_ text: String) -> String {
        let bytes = text.unicodeScalars.prefix(longestDetail).map { scalar in
            UInt8(exactly: scalar.value).flatMap { 0x20...0x7E ~= $0 ? $0 : nil } ?? UInt8(ascii: "?")
        }
        if let first = bytes.first, isTokenStart(first), bytes.allSatisfy(isTokenCharacter) {
            return String(decoding: bytes, as: UTF8.self)
        }
        let escaped = bytes.flatMap { byte in
            byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? [UInt8(ascii: "\\"), byte] : [byte]
        }
        return "\"\(String(decoding: escaped, as: UTF8.self))\""
    }

    private static func isTokenStart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "*"): true
        default: false
        }
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        FieldScanner.isTokenCharacter(byte) || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "/")
    }
}

extension CacheStatus {
    /// The list with this member at its end, which is the position of the cache closest to the user (RFC 9211 §2).
    ///
    /// `list` is the origin's list. A list with an open quote, or of more than 8 KiB, is dropped, because a member
    /// after it could not be read.
    public func appended(to list: String?) -> String {
        guard let list, Self.isAppendable(list) else { return description }
        return "\(list), \(description)"
    }

    private static func isAppendable(_ list: String) -> Bool {
        guard var scanner = FieldScanner(list), !scanner.isAtEnd else { return false }
        while let byte = scanner.next {
            if byte == UInt8(ascii: "\"") {
                guard scanner.quotedString() != nil else { return false }
            } else {
                _ = scanner.take()
            }
        }
        return true
    }
}

extension HTTPFields {
    /// Appends `status` to the Cache-Status list, whose earlier members belong to caches nearer to the origin.
    public mutating func append(_ status: CacheStatus) {
        guard let name = HTTPField.Name("Cache-Status") else { return }
        self[name] = status.appended(to: self[name])
    }
}
