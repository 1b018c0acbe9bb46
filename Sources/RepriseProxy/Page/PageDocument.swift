import Crypto
import Foundation
import HTTPSemantics
import NIOCore

/// A document for browsers, made of the files beside this one.
///
/// It never changes while the server runs. Its script asks for `status.json`, `titles.json` and the others.
struct PageDocument: Sendable {
    private let status: Int
    /// Whether it asks for titles; the form for the token must not have them read.
    var listsTitles: Bool { status == 200 }
    /// The document with its style and its script, and a place for the token of players.
    let html: String
    /// What a browser may do with the document: run its own script, show its own style, ask this server (CSP Level 3).
    ///
    /// Even if the hostile name of a title became markup, it could neither run nor send anything.
    let policy: String

    /// The page of a server.
    static let page = PageDocument(
        status: 200, PackageResources.page_html, style: PackageResources.page_css,
        script: ("/*page.js*/", PackageResources.page_js))

    /// Asks for the token.
    static let login = PageDocument(
        status: 403, PackageResources.login_html, style: PackageResources.page_css,
        script: ("/*login.js*/", PackageResources.login_js))

    private init(status: Int, _ html: [UInt8], style: [UInt8], script: (place: String, text: [UInt8])) {
        self.status = status
        let (styleText, scriptText) = (Self.text(style), Self.text(script.text))
        self.html = Self.text(html).replacing("/*page.css*/", with: styleText)
            .replacing(script.place, with: scriptText)
        policy = [
            "default-src 'none'", "script-src '\(Self.hash(scriptText))'", "style-src '\(Self.hash(styleText))'",
            "connect-src 'self'", "media-src 'self'", "img-src 'self' data:", "base-uri 'none'", "form-action 'none'",
            "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
        ].joined(separator: "; ")
    }

    /// A file without its indentation, which a fifth of it is.
    private static func text(_ file: [UInt8]) -> String {
        String(decoding: file, as: UTF8.self).split(separator: "\n").map { $0.drop { $0 == " " } }
            .joined(separator: "\n") + "\n"
    }

    /// The hash of the text between two tags (CSP §2.3.1).
    private static func hash(_ content: String) -> String {
        "sha256-" + Data(SHA256.hash(data: Data(content.utf8))).base64EncodedString()
    }

    /// The complete answer to `head`.
    ///
    /// The address may have a token, so that no page may learn it as a referrer.
    func answer(to head: ClientHead, at time: Double) -> ByteBuffer {
        var buffer = ByteBuffer()
        let html = html.replacing("PLAYER_TOKEN", with: head.sender?.holder.token.forPlayers?.text ?? "")
        buffer.writeStatusLine(status)
        buffer.writeString("Date: \(HTTPDate(secondsSince1970: Int64(time)))\r\n")
        buffer.writeStaticString(
            "Content-Type: text/html; charset=utf-8\r\nCache-Control: no-store\r\nVary: Accept\r\n")
        buffer.writeLine("Content-Length: ", number: Int64(html.utf8.count))
        buffer.writeString("Content-Security-Policy: \(policy)\r\n")
        buffer.writeStaticString(
            """
            X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nX-Frame-Options: DENY\r\n\
            Cross-Origin-Resource-Policy: same-origin\r\n
            """)
        Framing(isChunked: false, keepsAlive: head.keepsAlive).write(to: &buffer)
        buffer.writeStaticString("\r\n")
        if head.method != .head { buffer.writeString(html) }
        return buffer
    }
}
