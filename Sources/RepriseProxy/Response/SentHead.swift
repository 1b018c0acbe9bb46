import NIOCore

/// The head of an answer as this proxy sends it, read again.
///
/// Whatever made the answer, this is what the client was told.
enum SentHead {
    /// The status in the head at the beginning of `buffer`, and the length of the head with its empty line.
    static func measure(_ buffer: ByteBuffer) -> (status: Int?, length: Int) {
        buffer.withUnsafeReadableBytes { bytes in
            let digits = bytes.dropFirst(9).prefix(3)
            let status = digits.reduce(0) { $0 * 10 + Int($1) - 0x30 }
            return (digits.count == 3 && 100...999 ~= status ? status : nil, length(bytes))
        }
    }

    private static func length(_ bytes: UnsafeRawBufferPointer) -> Int {
        var end = 0
        while end + 4 <= bytes.count,
            !(bytes[end] == 0x0D && bytes[end + 1] == 0x0A && bytes[end + 2] == 0x0D && bytes[end + 3] == 0x0A)
        {
            end += 1
        }
        return min(end + 4, bytes.count)
    }

    /// The value of Cache-Status; `nil` if there is none.
    ///
    /// Several lines are joined with a comma (RFC 9110 §5.3).
    static func cacheStatus(_ buffer: ByteBuffer) -> String? {
        let values = values(of: "cache-status", in: buffer)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// The value of Content-Length; `nil` if there is none.
    static func contentLength(_ buffer: ByteBuffer) -> Int64? {
        values(of: "content-length", in: buffer).first.flatMap { Int64($0) }
    }

    /// The values of the lines with this name, which is in lower case.
    private static func values(of name: String, in buffer: ByteBuffer) -> [String] {
        buffer.withUnsafeReadableBytes { bytes in
            bytes.prefix(length(bytes)).split(separator: 0x0A).compactMap { line in
                let found = line.prefix { $0 != 0x3A }
                guard found.count == name.utf8.count, String(decoding: found, as: UTF8.self).lowercased() == name else {
                    return nil
                }
                let value = line.dropFirst(found.count + 1).drop { $0 == 0x20 }.prefix { $0 != 0x0D }
                return String(decoding: value, as: UTF8.self)
            }
        }
    }
}
