import HTTPSemantics
import HTTPTypes
import NIOCore
import Reprise

/// The head of an origin's response that is passed on unchanged, except for hop-by-hop fields.
struct PassedResponse {
    private let status: Int
    private let fields: HTTPFields
    private let audience: Audience
    let framing: Framing

    /// Creates the head of `response` for the client that sent `head`, with those of its cookies that this client may
    /// have.
    ///
    /// `time` is when it arrived, in seconds since 1970, and `url` what answered, which an edge wants to know.
    init(
        _ response: HTTPResponse, to head: ClientHead, status cacheStatus: CacheStatus, cookies: [HTTPField] = [],
        from url: ResourceURL? = nil, receivedAt time: Int64
    ) {
        status = response.status.code
        audience = head.audience
        var fields = response.headerFields.endToEnd.handedOn(to: head.audience)
        framing = Framing(of: fields, status: status, to: head)
        fields[fields: .setCookie] = cookies
        fields[EdgeFields.finalURL] = head.audience == .edge ? url?.description : nil
        // 204 and 304 end with their head, 205 with an empty body (RFC 9110 §8.6, RFC 9112 §6.3).
        switch status {
        case 204, 304: fields[.contentLength] = nil
        case 205: fields[.contentLength] = "0"
        default: break
        }
        var cacheStatus = cacheStatus
        cacheStatus.name = head.serverName
        fields.append(cacheStatus)
        // The time at which the response arrived, if the origin sent no Date (RFC 9110 §6.6.1).
        if fields[.date] == nil { fields[.date] = HTTPDate(secondsSince1970: time).description }
        if let via = HTTPField.Name("Via") {
            fields.append(HTTPField(name: via, value: Via.response(by: head.serverName)))
        }
        self.fields = fields
    }

    var mayHaveBody: Bool { Framing.mayHaveBody(status) }

    /// The head as sent.
    var head: ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeStatusLine(status)
        for field in fields { buffer.writeField(field) }
        audience.writeGuards(beside: fields, to: &buffer)
        framing.write(to: &buffer)
        buffer.writeStaticString("\r\n")
        return buffer
    }
}
