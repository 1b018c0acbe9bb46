import Foundation
import Reprise

/// Conditions for titles, all of which must hold.
struct TitleSearch: Sendable {
    /// Text in lower case, for C: ten thousand titles are compared in a few milliseconds.
    typealias Text = ContiguousArray<CChar>

    /// Words that must all occur in the title's text, in lower case.
    private let words: [Text]
    private let host, tag: String?
    /// Whether only kept titles are wanted: pins, downloads, kept beginnings.
    private let isKept: Bool

    /// The words of `text`, the host with its port unless that is the usual one, and a tag; `nil` if nothing is asked
    /// for.
    init?(_ text: String = "", host: String? = nil, tag: String? = nil, isKept: Bool = false) {
        words = text.lowercased().split(whereSeparator: \.isWhitespace).map { String($0).utf8CString }
        (self.host, self.tag, self.isKept) = (host?.lowercased(), tag, isKept)
        if words.isEmpty, host == nil, tag == nil, !isKept { return nil }
    }

    /// Whether it finds `title`; `text` is the ``text(of:)`` of the title.
    func matches(_ title: Title, text: Text) -> Bool {
        if let host, title.url.authority != host { return false }
        if let tag, title.tag != tag { return false }
        if isKept, title.retention == .cached { return false }
        return text.withUnsafeBufferPointer { text in
            guard let text = text.baseAddress else { return false }
            return words.allSatisfy { word in
                word.withUnsafeBufferPointer { $0.baseAddress.map { strstr(text, $0) != nil } ?? true }
            }
        }
    }

    /// The text that is searched: name, tag and URL, in lower case.
    ///
    /// The query of a URL, which may have secrets, is not searched.
    static func text(of title: Title) -> Text {
        let shown = title.url.redacted
        // People type a name as they read it, and origins write it with %20.
        let texts = [title.name, title.tag, shown, shown.removingPercentEncoding].compactMap { $0 }
        return texts.joined(separator: "\n").lowercased().utf8CString
    }
}
