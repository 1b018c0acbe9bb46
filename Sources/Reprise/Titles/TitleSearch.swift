import Foundation

/// Conditions for titles, all of which must hold.
package struct TitleSearch: Sendable {
    /// Words that must all occur in the name, the tag or the URL, in lower case.
    ///
    /// The query of a URL, which may have secrets, is not searched.
    private let words: [String]
    private let host, tag: String?
    /// Whether only kept titles are wanted: pins, downloads, kept beginnings.
    private let isKept: Bool
    /// Called before each comparison; tests count there, and hold a search.
    var isComparing: @Sendable () -> Void = {}

    /// The words of `text`, the host with its port unless that is the usual one, and a tag; `nil` if nothing is asked
    /// for.
    package init?(_ text: String = "", host: String? = nil, tag: String? = nil, isKept: Bool = false) {
        words = text.lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
        (self.host, self.tag, self.isKept) = (host?.lowercased(), tag, isKept)
        if words.isEmpty, host == nil, tag == nil, !isKept { return nil }
    }

    /// Whether a title is found.
    package func matches(_ title: Title) -> Bool {
        matches(name: title.name, tag: title.tag, url: title.url) && matches(title.retention)
    }

    /// Whether a title with that name, tag and URL is found, as far as these tell.
    func matches(name: String?, tag: String?, url: ResourceURL) -> Bool {
        isComparing()
        if let host, url.authority != host { return false }
        if let wanted = self.tag, tag != wanted { return false }
        if words.isEmpty { return true }
        let shown = url.redacted
        // People type a name as they read it, and origins write it with %20.
        let text = [name, tag, shown, shown.removingPercentEncoding].compactMap { $0 }.joined(separator: "\n")
            .lowercased()
        return words.allSatisfy { text.contains($0) }
    }

    /// Whether a title that is retained in that way is found, as far as this tells.
    func matches(_ retention: Retention) -> Bool { !isKept || retention != .cached }
}
