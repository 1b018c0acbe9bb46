/// A response as received, parsed by a separate strict parser.
struct WireResponse: Sendable {
    struct Missing: Error {
        let connection: TestClient.Connection
    }

    let status: Int
    /// Names in lower case, in order.
    let fields: [(name: String, value: String)]
    /// Without the framing of chunks.
    let body: [UInt8]
    /// Whether the body ended where its framing says.
    let isComplete: Bool

    subscript(name: String) -> String? {
        let values = fields.filter { $0.name == name.lowercased() }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// Takes the first response from `bytes`; `nil` if more bytes are needed.
    ///
    /// If the connection has ended, a truncated body is taken as it is.
    static func take(from bytes: [UInt8], isHead: Bool, isOver: Bool) -> (WireResponse, rest: [UInt8])? {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else { return nil }
        let lines = String(decoding: bytes[..<(end - 4)], as: UTF8.self).split(
            separator: "\r\n", omittingEmptySubsequences: false)
        let status = lines[0].split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard status.count == 3, status[0] == "HTTP/1.1", let code = Int(status[1]) else { return nil }
        var fields: [(name: String, value: String)] = []
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, parts[1].hasPrefix(" "), !parts[0].contains(" ") else { return nil }
            fields.append((parts[0].lowercased(), String(parts[1].dropFirst())))
        }
        let rest = Array(bytes[end...])
        let framing = Framing(fields: fields, hasBody: !isHead && code != 304 && code != 204)
        guard let (body, length) = framing.body(of: rest, isOver: isOver) else { return nil }
        let response = WireResponse(status: code, fields: fields, body: body, isComplete: length != nil)
        return (response, Array(rest[(length ?? rest.count)...]))
    }

    private enum Framing {
        case length(Int)
        case chunked
        case close

        init(fields: [(name: String, value: String)], hasBody: Bool) {
            let length = fields.first { $0.name == "content-length" }.flatMap { Int($0.value) }
            if !hasBody {
                self = .length(0)
            } else if fields.contains(where: { $0.name == "transfer-encoding" && $0.value == "chunked" }) {
                self = .chunked
            } else {
                self = length.map { .length($0) } ?? .close
            }
        }

        /// The body and its length on the wire, `nil` if it was truncated; nothing if more bytes are needed.
        func body(of bytes: [UInt8], isOver: Bool) -> (body: [UInt8], length: Int?)? {
            switch self {
            case .length(let length):
                if bytes.count >= length { return (Array(bytes[..<length]), length) }
                return isOver ? (bytes, nil) : nil
            case .close:
                return isOver ? (bytes, bytes.count) : nil
            case .chunked:
                let (body, length) = Self.dechunk(bytes)
                return length != nil || isOver ? (body, length) : nil
            }
        }

        private static func dechunk(_ bytes: [UInt8]) -> (body: [UInt8], length: Int?) {
            var body: [UInt8] = []
            var index = 0
            while let line = bytes[index...].firstRange(of: Array("\r\n".utf8)) {
                let size = Int(String(decoding: bytes[index..<line.lowerBound], as: UTF8.self), radix: 16) ?? 0
                let end = line.upperBound + size
                guard end + 2 <= bytes.count else { break }
                if size == 0 { return (body, end + 2) }
                body += bytes[line.upperBound..<end]
                index = end + 2
            }
            return (body, nil)
        }
    }
}

extension Collection where Element == UInt8, Index == Int {
    /// Where `pattern` first occurs.
    fileprivate func firstRange(of pattern: [UInt8]) -> Range<Int>? {
        var start = startIndex
        while start + pattern.count <= endIndex {
            if self[start..<start + pattern.count].elementsEqual(pattern) { return start..<start + pattern.count }
            start += 1
        }
        return nil
    }
}
