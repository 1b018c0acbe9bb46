/// The part of a Content-Type that decides, without parameters (RFC 9110 §8.3.1).
struct MediaType: Equatable {
    /// `type/subtype` in lower case.
    let essence: String

    init?(_ value: String?) {
        guard let value, var scanner = FieldScanner(value), let type = scanner.token(), scanner.skip("/"),
            let subtype = scanner.token()
        else { return nil }
        essence = "\(type)/\(subtype)".lowercased()
    }

    var isHTML: Bool { essence == "text/html" || essence == "application/xhtml+xml" }

    var isMultipartByteRanges: Bool { essence == "multipart/byteranges" }
}
