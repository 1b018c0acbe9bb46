/// Keeps a URI whole in a text or an attribute of XML (XML 1.0 §2.4).
enum XMLEscape {
    /// Writes markup as references, and percent-encodes control characters, which XML cannot hold.
    static func escaped(_ uri: ArraySlice<UInt8>, quote: UInt8?) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(uri.count)
        for byte in uri {
            switch byte {
            case UInt8(ascii: "&"): result += "&amp;".utf8
            case UInt8(ascii: "<"): result += "&lt;".utf8
            case UInt8(ascii: ">"): result += "&gt;".utf8
            case UInt8(ascii: "\"") where quote == byte: result += "&quot;".utf8
            case UInt8(ascii: "'") where quote == byte: result += "&apos;".utf8
            case _ where byte.isControl: result.appendEscape(of: byte)
            default: result.append(byte)
            }
        }
        return result
    }
}
