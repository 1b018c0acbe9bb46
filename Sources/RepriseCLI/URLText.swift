import Reprise

/// URLs and cache keys as they stand on the command line, for what is printed.
///
/// They may be no URLs at all, so that they are taken apart as text.
enum URLText {
    /// `text` without user name and password.
    static func withoutCredentials(_ text: String) -> String {
        let start = text.firstRange(of: "://")?.upperBound ?? beginning(of: text)
        let authority = text[start...].prefix { !"/?#\n".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return text }
        return String(text[..<start] + text[text.index(after: at)...])
    }

    /// Where an authority may begin in a text that is no whole URL: behind a scheme, and behind slashes.
    private static func beginning(of text: String) -> String.Index {
        let scheme = text.prefix { $0.isASCII && ($0.isLetter || $0.isNumber) || "+-.".contains($0) }
        let rest = text[scheme.endIndex...]
        let start = rest.hasPrefix(":/") ? rest.index(after: rest.startIndex) : text.startIndex
        return text[start...].firstIndex { $0 != "/" } ?? text.endIndex
    }

    /// `text` without credentials and query, for messages: signatures and tokens live in queries.
    static func redacted(_ text: String) -> String {
        let text = withoutCredentials(text)
        guard let query = text.firstIndex(where: { "?#\n".contains($0) }) else { return text }
        return String(text[..<query]) + (text[query] == "?" ? "?…" : "")
    }

    /// A name for the media at `url`, from its path.
    static func name(of url: String) -> String { TitleName.path(of: withoutCredentials(url)) }
}
