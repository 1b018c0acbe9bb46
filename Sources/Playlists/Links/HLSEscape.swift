/// Keeps a URI whole in a line or a quoted string of HLS (rfc8216bis §4.1, §4.2, §4.3).
enum HLSEscape {
    /// Percent-encodes what would end the line or the string, begin a tag, or name a variable.
    static func escaped(_ uri: [UInt8], isQuoted: Bool) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(uri.count)
        for (index, byte) in uri.enumerated() {
            let isVariable =
                byte == UInt8(ascii: "{") && index + 1 < uri.count && uri[index + 1] == UInt8(ascii: "$")
            let isMark = isQuoted ? byte == UInt8(ascii: "\"") : index == 0 && byte == UInt8(ascii: "#")
            if byte.isControl || byte == 0x20 || isVariable || isMark {
                result.appendEscape(of: byte)
            } else {
                result.append(byte)
            }
        }
        return result
    }
}
