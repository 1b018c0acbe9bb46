import HTTPSemantics
import HTTPTypes
import NIOCore

/// The recipient of an answer.
///
/// To a browser everything from the proxy belongs to one site: the proxy's own address. An answer must therefore never
/// run there as a document, and only allowed pages may read it.
enum Audience: Equatable, Sendable {
    /// A program that is not a browser.
    case player
    /// Another server of Reprise, which asks this one in place of an origin: it edits playlists itself, and guards its
    /// own clients.
    case edge
    /// A browser, on behalf of its user: no page reads the answer.
    case browser
    /// A page of a site that may read, by its origin.
    case page(String)

    /// Whether it gets what only browsers would misuse.
    var isProgram: Bool { self == .player || self == .edge }

    /// Writes the lines that prevent a browser from running the answer and from giving it to other pages.
    ///
    /// `fields` are the fields of the answer. If the origin sends a Content-Security-Policy, players get it, and the
    /// proxy's own policy is added only for documents that may contain scripts. An old browser that looks like a player
    /// then enforces both policies.
    func writeGuards(beside fields: HTTPFields, to buffer: inout ByteBuffer) {
        // They would be stored there as the origin's.
        if self == .edge { return }
        let type = MediaType(fields[.contentType])
        if fields[.contentSecurityPolicy] == nil || type?.mayHaveScripts != false {
            buffer.writeStaticString(type?.isShownByBrowsers == true ? Self.policyOfMedia : Self.policyOfOthers)
        }
        buffer.writeStaticString("X-Content-Type-Options: nosniff\r\n")
        switch self {
        case .player, .edge: buffer.writeStaticString("Cross-Origin-Resource-Policy: same-origin\r\n")
        case .browser: buffer.writeStaticString("Cross-Origin-Resource-Policy: same-origin\r\nVary: Origin\r\n")
        case .page(let origin):
            buffer.writeStaticString("Cross-Origin-Resource-Policy: cross-origin\r\nVary: Origin\r\n")
            buffer.writeString("Access-Control-Allow-Origin: \(origin)\r\nTiming-Allow-Origin: \(origin)\r\n")
            buffer.writeStaticString(Self.exposed)
        }
    }

    /// The policy for content that a browser shows in a document of its own.
    ///
    /// The element in that document must be of the same site as the file: a sandbox without the document's origin would
    /// make the element's request a cross-site one. Scripts remain forbidden.
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
    /// Whether a browser may run scripts in a document of this type: HTML, or XML including SVG.
    fileprivate var mayHaveScripts: Bool { isHTML || essence.hasSuffix("/xml") || essence.hasSuffix("+xml") }

    /// Whether a browser creates its own document around content of this type: audio, images, and video.
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
