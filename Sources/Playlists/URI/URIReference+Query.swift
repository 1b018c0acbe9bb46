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
