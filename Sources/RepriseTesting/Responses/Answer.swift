import HTTPTypes
import NIOHTTP1

/// A response as it will be sent: status, header fields, body.
struct Answer: Sendable {
    var status: Int
    /// Excludes the fields that the framing adds.
    var fields: HTTPFields = [:]
    /// Empty for responses to HEAD and for 304.
    var body: [BodyPart] = []
    var framing = TestOrigin.Personality.Framing.contentLength
    /// Whether the connection closes after the response.
    var closes = false

    /// The status line and all fields, including the final empty line.
    var head: [UInt8] {
        let reason = HTTPResponseStatus(statusCode: status).reasonPhrase
        let lines = fields.map { "\($0.name.rawName): \($0.value)\r\n" }.joined()
        return Array("HTTP/1.1 \(status) \(reason)\r\n\(lines)\r\n".utf8)
    }

    /// Replaces fields of the same names by `others`.
    mutating func replaceFields(with others: HTTPFields) {
        for field in others { fields[field.name] = nil }
        for field in others { fields.append(field) }
    }
}

/// A piece of a response's body.
enum BodyPart: Sendable, Equatable {
    /// Bytes of the representation, by offset.
    case content(Range<Int64>)
    /// Bytes that do not belong to the representation: an error page, the frame of a multipart body, metadata.
    case literal([UInt8])
    /// This many meaningless bytes.
    case filler(Int64)

    var length: Int64 {
        switch self {
        case .content(let range): range.upperBound - range.lowerBound
        case .literal(let bytes): Int64(bytes.count)
        case .filler(let count): count
        }
    }

    /// The part from `start` on, with at most `limit` bytes.
    func slice(from start: Int64, limit: Int64) -> BodyPart {
        let count = min(limit, length - start)
        switch self {
        case .content(let range):
            let first = range.lowerBound + start
            return .content(first..<first + count)
        case .literal(let bytes):
            return .literal(Array(bytes[Int(start)..<Int(start + count)]))
        case .filler:
            return .filler(count)
        }
    }
}

extension HTTPField.Name {
    /// `Icy-MetaData`: a client that sends 1 requests metadata in the stream.
    static let icyMetadata = wellKnown("Icy-MetaData")
    /// `icy-metaint`: the number of bytes between two blocks of metadata.
    static let icyMetadataInterval = wellKnown("icy-metaint")

    private static func wellKnown(_ name: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else { preconditionFailure("\(name) is no field name.") }
        return name
    }
}
