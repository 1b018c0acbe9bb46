import HTTPSemantics
import HTTPTypes
import NIOCore

/// Who reads an answer.
///
/// To a browser all that the proxy hands on comes from one site: the proxy's own address. An answer must therefore never run
/// there as a document, and only pages that are allowed may read it.
enum Audience: Equatable, Sendable {
    /// A program that is no browser.
    case player
    /// A browser, for the person in front of it: no page reads the answer.
    case browser
    /// The page of a site that is allowed to read, by its origin.
    case page(String)

    /// Writes the lines that keep a browser from running the answer, and from giving it to other pages.
    ///
    /// `fields` are those of the answer. A player gets the origin's own Content-Security-Policy where there is one.
    func writeGuards(beside fields: HTTPFields, to buffer: inout ByteBuffer) {
        if fields[.contentSecurityPolicy] == nil {
            let isShown = MediaType(fields[.contentType])?.isShownByBrowsers == true
            buffer.writeStaticString(isShown ? Self.policyOfMedia : Self.policyOfOthers)
        }
        buffer.writeStaticString("X-Content-Type-Options: nosniff\r\n")
        switch self {
        case .player: buffer.writeStaticString("Cross-Origin-Resource-Policy: same-origin\r\n")
        case .browser: buffer.writeStaticString("Cross-Origin-Resource-Policy: same-origin\r\nVary: Origin\r\n")
        case .page(let origin):
            buffer.writeStaticString("Cross-Origin-Resource-Policy: cross-origin\r\nVary: Origin\r\n")
            buffer.writeString("Access-Control-Allow-Origin: \(origin)\r\nTiming-Allow-Origin: \(origin)\r\n")
            buffer.writeStaticString(Self.exposed)
        }
    }

    /// For what a browser shows in a document of its own making.
    ///
    /// The element in that document must be of the same site as the file: a sandbox that takes the document's origin away
    /// would make the element's request one of a foreign page. Scripts stay forbidden.
    private static let policyOfMedia: StaticString = """
        Content-Security-Policy: sandbox allow-same-origin; default-src 'none'; media-src 'self'; img-src 'self'; \
        style-src 'unsafe-inline'; frame-ancestors 'none'\r\n
        """
    private static let policyOfOthers: StaticString =
        "Content-Security-Policy: sandbox; default-src 'none'; frame-ancestors 'none'\r\n"
    private static let exposed: StaticString = """
        Access-Control-Expose-Headers: Content-Range, Accept-Ranges, Content-Length, ETag, Date, Age, Cache-Status\r\n
        """
}

extension MediaType {
    /// Whether a browser makes a document of its own around content of this type: sound, pictures, and streams of them.
    fileprivate var isShownByBrowsers: Bool {
        if essence == "image/svg+xml" { return false }
        return essence.hasPrefix("audio/") || essence.hasPrefix("video/") || essence.hasPrefix("image/")
            || Self.shown.contains(essence)
    }

    private static let shown: Set<String> = [
        "application/mp4", "application/ogg", "application/vnd.apple.mpegurl", "application/x-matroska",
        "application/x-mpegurl",
    ]
}
