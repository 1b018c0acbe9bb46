import HTTPTypes

/// How long a response says its body is (RFC 9110 §8.6, RFC 9112 §6.3).
enum ResponseFraming {
    /// Content-Length, in bytes.
    case declared(Int64)
    /// Chunked, or ended by the connection.
    case open
    /// A Content-Length that is no number, does not fit, or comes in different values.
    case invalid

    /// Reads both fields: Transfer-Encoding overrides Content-Length, which may be repeated with the same value.
    init(_ fields: HTTPFields) {
        guard !fields.contains(.transferEncoding), let value = fields[.contentLength] else {
            self = .open
            return
        }
        guard var scanner = FieldScanner(value) else {
            self = .invalid
            return
        }
        var lengths: Set<Int64> = []
        let isValid = scanner.list { scanner in
            guard let length = Decimal(scanning: &scanner)?.exactly else { return false }
            lengths.insert(length)
            return true
        }
        guard isValid, lengths.count == 1, let length = lengths.first else {
            self = .invalid
            return
        }
        self = .declared(length)
    }
}
