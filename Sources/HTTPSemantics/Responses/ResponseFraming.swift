import HTTPTypes

/// How long a response declares its body to be (RFC 9110 §8.6, RFC 9112 §6.3).
enum ResponseFraming {
    /// Content-Length, in bytes.
    case declared(Int64)
    /// Chunked, or ended by the connection.
    case open
    /// A Content-Length that is not a number, is above 2^53, or has different values.
    case invalid

    /// Reads both fields: Transfer-Encoding overrides Content-Length, which may be repeated with the same value.
    init(_ fields: HTTPFields) {
        guard !fields.contains(.transferEncoding), let value = fields[.contentLength] else {
            self = .open
            return
        }
        self = contentLength(value).map { .declared($0) } ?? .invalid
    }
}

/// The value of Content-Length in bytes; `nil` if it is not a number, above 2^53, or a list of different ones.
///
/// A list of equal numbers counts as that number (RFC 9110 §8.6).
package func contentLength(_ value: String) -> Int64? {
    guard var scanner = FieldScanner(value) else { return nil }
    var lengths: Set<Int64> = []
    let isValid = scanner.list { scanner in
        guard let length = Decimal(scanning: &scanner)?.position else { return false }
        lengths.insert(length)
        return true
    }
    return isValid && lengths.count == 1 ? lengths.first : nil
}

extension HTTPResponse {
    /// Corrects common, unambiguous mistakes of origins in the response to a GET for `range`.
    ///
    /// A response without a valid Date gets its arrival time `now` (RFC 9110 §6.6.1). A 200 becomes a 206 if its
    /// Content-Range starts at the requested offset and its Content-Length is that of the part rather than of the
    /// whole. Scripts that serve ranges often forget to set the status.
    package mutating func repair(askedFor range: RangeSpec?, now: HTTPDate) {
        if headerFields[.date].flatMap({ HTTPDate($0) }) == nil { headerFields[.date] = now.description }
        if status == .ok, let range, isPart(askedFor: range) { status = .partialContent }
        if status == .partialContent, range == nil, isWhole {
            status = .ok
            headerFields[.contentRange] = nil
        }
    }

    private var isWhole: Bool {
        guard let value = headerFields[.contentRange], case .satisfied(let range, let complete?) = ContentRange(value)
        else { return false }
        return range == 0..<complete
    }

    private func isPart(askedFor asked: RangeSpec) -> Bool {
        guard let value = headerFields[.contentRange], case .satisfied(let range, let complete?) = ContentRange(value),
            case .declared(let length) = ResponseFraming(headerFields),
            length == range.upperBound - range.lowerBound, range != 0..<complete
        else { return false }
        return asked.resolve(completeLength: complete)?.lowerBound == range.lowerBound
    }
}
