import HTTPSemantics
import HTTPTypes
import NIOCore
import Reprise

/// The lines of a head that are the same for every response with bytes of one representation.
enum RepresentationFields {
    /// RFC 9110 §7.6.3.
    static let via = "1.1 reprise"

    /// Fields of the origin's response that are not repeated: the proxy makes its own, or they speak of another hop.
    private static let own = Set(
        [
            "Content-Length", "Content-Range", "Accept-Ranges", "ETag", "Age", "Cache-Status",
            "Set-Cookie",
        ].compactMap { HTTPField.Name($0) })

    /// The entity tag that clients see: the origin's if it is strong or not of media, else one of Reprise's own.
    ///
    /// Players need a strong and stable tag: some strip `W/` and then fail on `If-Match` (RFC 9110 §13.1.1). Where the
    /// representation has a strong date, every cache of it makes the same tag; otherwise nothing but this store tells
    /// its bytes from others under the same weak tag, or none, and the tag names the generation.
    static func entityTag(of information: ContentInformation) -> EntityTag? {
        if let tag = information.validators.strongETag { return tag }
        if information.generation.isEmpty || !information.isMedia { return information.validators.etag }
        return information.validators.tagOfStrongDate(completeLength: information.completeLength)
            ?? EntityTag("\"reprise-\(information.generation)\"")
    }

    /// The lines for responses to `audience`, `Cache-Status` among them.
    ///
    /// A stored `Set-Cookie` was meant for the client whose request brought it: only `cookies` are sent.
    static func lines(
        of information: ContentInformation, for audience: Audience, status: CacheStatus, cookies: [HTTPField] = []
    ) -> ByteBuffer {
        var buffer = ByteBuffer()
        let fields = information.fields.handedOn(to: audience)
        for field in fields where !own.contains(field.name) { buffer.writeField(field) }
        audience.writeGuards(beside: fields, to: &buffer)
        if information.fields[.date] == nil, let time = information.responseTime, time > 0 {
            // A recipient with a clock adds the time at which the response came (RFC 9110 §6.6.1).
            buffer.writeString("Date: \(HTTPDate(secondsSince1970: time))\r\n")
        }
        if let tag = entityTag(of: information) { buffer.writeString("ETag: \(tag)\r\n") }
        buffer.writeString("Via: \(via)\r\n")
        buffer.writeStaticString("Accept-Ranges: bytes\r\n")
        buffer.writeString("Cache-Status: \(status.appended(to: information.fields[cacheStatus]))\r\n")
        for cookie in cookies { buffer.writeField(cookie) }
        return buffer
    }

    private static let cacheStatus = HTTPField.Name("Cache-Status") ?? .age
}
