import Foundation

/// What a person types to find titles: words that must all occur in the name, the tag or the URL.
///
/// Upper and lower case count as the same. The query of a URL, which may have secrets, is not searched.
package struct TitleSearch: Sendable {
    private let words: [String]
    /// Called before each comparison; tests count there, and hold a search.
    var isComparing: @Sendable () -> Void = {}

    /// The words of `text`; `nil` if it has none.
    package init?(_ text: String) {
        words = text.lowercased().split(whereSeparator: \.isWhitespace).map(String.init)
        if words.isEmpty { return nil }
    }

    /// Whether a title is found.
    func matches(name: String?, tag: String?, url: ResourceURL) -> Bool {
        isComparing()
        let shown = url.redacted
        // People type a name as they read it, and origins write it with %20.
        let text = [name, tag, shown, shown.removingPercentEncoding].compactMap { $0 }.joined(separator: "\n")
            .lowercased()
        return words.allSatisfy { text.contains($0) }
    }
}
