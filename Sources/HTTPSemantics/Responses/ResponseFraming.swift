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
