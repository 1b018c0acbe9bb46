import Reprise

/// What a browser opens when it opens the address of the proxy.
enum PageTarget: Equatable, Sendable {
    /// The page.
    case page
    /// Its address without the slash behind the token.
    case withoutSlash

    /// `nil` for a request for something else, and for a client that does not prefer HTML, such as curl.
    init?(_ head: ClientHead, token: String?) {
        guard head.method == .get || head.method == .head else { return nil }
        let (target, query) = (head.target.utf8, UInt8(ascii: "?"))
        guard let token else {
            // Each request comes here: most have another path, which their second byte tells.
            guard target.first == UInt8(ascii: "/"), target.dropFirst().first ?? query == query,
                Self.prefersHTML(head.value("accept"))
            else { return nil }
            self = .page
            return
        }
        let path = target.prefix { $0 != query }
        guard path.first == UInt8(ascii: "/") else { return nil }
        let segments = path.dropFirst().split(
            separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = segments.first, segments.count == 1 || segments[1].isEmpty,
            Route.constantTimeEqual(first, token.utf8), Self.prefersHTML(head.value("accept"))
        else { return nil }
        self = segments.count == 1 ? .withoutSlash : .page
    }

    /// Whether a browser opens an address that could be a page's: at most one segment, which may be a wrong token.
    static func isOpened(by head: ClientHead) -> Bool {
        let path = head.target.utf8.prefix { $0 != UInt8(ascii: "?") }
        let segments = path.split(separator: UInt8(ascii: "/"))
        return segments.count <= 1 && (head.method == .get || head.method == .head) && prefersHTML(head.value("accept"))
    }

    /// Whether `accept` names HTML, and does not name plain text as better (RFC 9110 §12.5.1).
    static func prefersHTML(_ accept: String?) -> Bool {
        guard let accept else { return false }
        var (html, text) = (0.0, 0.0)
        for part in accept.lowercased().split(separator: ",") {
            let words = part.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            let weight = words.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            switch words.first {
            case "text/html": html = max(html, weight)
            case "text/plain": text = max(text, weight)
            default: break
            }
        }
        return html > 0 && html >= text
    }
}
