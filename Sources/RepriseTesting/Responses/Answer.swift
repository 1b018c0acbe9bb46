internal import HTTPTypes
internal import NIOHTTP1

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
