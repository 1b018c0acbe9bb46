public import HTTPTypes

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
