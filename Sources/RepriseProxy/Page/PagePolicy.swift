import Crypto
import Foundation

/// What a browser may do with the page: run its own script, show its own style, ask this server.
///
/// A hostile name of a title, even one that became markup, could neither run nor send anything.
enum PagePolicy {
    /// The value of `Content-Security-Policy` (CSP Level 3).
    static let text = [
        "default-src 'none'", "script-src '\(hash(PageScript.text))'",
        "style-src '\(hash(PageStyle.text.description))'",
        "connect-src 'self'", "media-src 'self'", "img-src data:", "base-uri 'none'", "form-action 'none'",
        "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
    ].joined(separator: "; ")

    /// The other fields.
    ///
    /// The address may have a token, so that no page may learn it as a referrer.
    static let fields: StaticString = """
        X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nX-Frame-Options: DENY\r\n\
        Cross-Origin-Resource-Policy: same-origin\r\n
        """

    /// The hash of what stands between two tags (CSP §2.3.1).
    private static func hash(_ content: String) -> String {
        "sha256-" + Data(SHA256.hash(data: Data(content.utf8))).base64EncodedString()
    }
}
