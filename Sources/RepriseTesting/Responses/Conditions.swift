internal import HTTPTypes

/// Evaluates a request's conditions against the validators of a representation (RFC 9110 §13.1, in the order of
/// §13.2.2).
struct Conditions {
    let fields: HTTPFields
    let etag: String?
    let lastModified: String?

    /// 412 or 304, or `nil` if the request is answered as usual.
    var status: Int? {
        if let tags = fields[.ifMatch] {
            guard names(tags, etag: etag, isStrong: true) else { return 412 }
        } else if let date = fields[.ifUnmodifiedSince], isModified(since: date) == true {
            return 412
        }
        if let tags = fields[.ifNoneMatch] {
            return names(tags, etag: etag, isStrong: false) ? 304 : nil
        }
        if let date = fields[.ifModifiedSince], isModified(since: date) == false { return 304 }
        return nil
    }

    /// Whether If-Range allows the range: absent, or exactly the representation's strong validator (§13.1.5).
    var allowsRange: Bool {
        guard let condition = fields[.ifRange] else { return true }
        guard condition.hasPrefix("\"") || condition.hasPrefix("W/") else { return condition == lastModified }
        return condition == etag && !condition.hasPrefix("W/")
    }

    /// `nil` if a date is missing or invalid; the condition is then ignored.
    private func isModified(since date: String) -> Bool? {
        guard let date = IMFFixdate(date), let lastModified = lastModified.flatMap(IMFFixdate.init) else { return nil }
        return date < lastModified
    }

    private func names(_ list: String, etag: String?, isStrong: Bool) -> Bool {
        guard let etag else { return false }
        if list == "*" { return true }
        return Self.tags(in: list).contains { tag in
            isStrong ? tag == etag && !tag.hasPrefix("W/") : Self.opaque(tag) == Self.opaque(etag)
        }
    }

    private static func opaque(_ tag: some StringProtocol) -> String {
        String(tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...])
    }

    /// Splits a list of entity tags at the commas outside quotes.
    private static func tags(in list: String) -> [String] {
        var tags = [""]
        var isQuoted = false
        for character in list {
            if character == "\"" { isQuoted.toggle() }
            if character == ",", !isQuoted {
                tags.append("")
            } else if isQuoted || (character != " " && character != "\t") {
                tags[tags.count - 1].append(character)
            }
        }
        return tags
    }
}
