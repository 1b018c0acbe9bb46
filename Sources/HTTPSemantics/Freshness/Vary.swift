public import HTTPTypes

/// Which request fields selected a response (RFC 9111 §4.1).
public struct Vary: Sendable, Hashable {
    /// Lower-case names, sorted, without duplicates.
    public let names: [String]

    /// Creates a value with these field names.
    public init(names: some Sequence<String>) {
        self.names = Set(names.map { $0.lowercased() }).sorted()
    }

    /// Reads the Vary fields of a response; empty if there are none, `nil` for `*` or a value that cannot be parsed.
    ///
    /// Accept-Encoding is left out, because this cache always asks for `identity`, and X-Playback-Session-Id, which
    /// AVPlayer makes up for each playback.
    public init?(_ fields: HTTPFields) {
        var names: [String] = []
        for value in fields[values: .vary] {
            guard var scanner = FieldScanner(value) else { return nil }
            let isValid = scanner.list { scanner in
                guard let name = scanner.token(), name != "*" else { return false }
                if !Self.ignored.contains(name.lowercased()) { names.append(name) }
                return true
            }
            guard isValid else { return nil }
        }
        self.init(names: names)
    }

    private static let ignored: Set<String> = ["accept-encoding", "x-playback-session-id"]

    /// Whether every request selects the same response.
    public var isEmpty: Bool { names.isEmpty }

    /// The field names of both.
    public func union(_ other: Vary) -> Vary { Vary(names: names + other.names) }

    /// The part of a cache key that distinguishes requests with different values; the same for values that differ only
    /// in white space around commas.
    ///
    /// Values are preceded by their lengths, so that no value can imitate another's end.
    public func selection(_ request: HTTPFields) -> String {
        names.map { name in
            guard let field = HTTPField.Name(name), request[field] != nil else { return "\(name)=-" }
            let parts = request[values: field].flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
            var items = parts.map { part in
                String(decoding: part.utf8.drop(while: FieldScanner.isWhitespace), as: UTF8.self).trimmedEnd
            }
            // Neither the order nor the case of languages has a meaning (RFC 9110 §12.5.4).
            if name == "accept-language" { items = items.map { $0.lowercased() }.sorted() }
            let value = items.joined(separator: ",")
            return "\(name)=\(value.utf8.count):\(value)"
        }.joined(separator: ";")
    }
}

extension String {
    fileprivate var trimmedEnd: String {
        var bytes = Array(utf8)
        while let last = bytes.last, FieldScanner.isWhitespace(last) { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }
}
