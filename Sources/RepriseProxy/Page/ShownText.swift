import Foundation
import Reprise

/// Numbers and names in the words of the page; its script writes them in the same way.
enum ShownText {
    /// `part` of `whole` in percent, rounded down, so that only the whole is 100 %.
    static func percent(_ part: Int64, of whole: Int64) -> String {
        percent(whole > 0 ? Double(part) / Double(whole) : 0)
    }

    /// `share` of 1 in percent, rounded down, so that only the whole is 100 %.
    static func percent(_ share: Double) -> String {
        guard share < 1 else { return "100 %" }
        // A billionth more than it is, so that 0.29 is 29 % and not 28.
        return "\(min(99, Int(max(share, 0) * 100 + 1e-9))) %"
    }

    /// `count` things, such as `1 reader` and `2 readers`.
    static func count(_ count: some BinaryInteger, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }

    /// A time that is over, in its largest unit, such as `3 hours`.
    static func duration(_ seconds: Double) -> String {
        let seconds = min(max(0, seconds.isNaN ? 0 : seconds), 1e10)
        for (unit, length) in [("day", 86_400.0), ("hour", 3600), ("minute", 60)] where seconds >= length {
            return count(Int(seconds / length), unit)
        }
        return count(Int(seconds), "second")
    }

    /// A name for `url`, as ``TitleName`` makes it and a person would write it, and its host.
    static func name(of url: String) -> (file: String, host: String) {
        // A query that is not told ends so.
        let told = url.hasSuffix("?…") ? url.dropLast(2) : url[...]
        let host = told.split(separator: "://", maxSplits: 1).last?.prefix { $0 != "/" } ?? ""
        return (decoded(TitleName.path(of: String(told))), String(host))
    }

    /// RFC 3986 §2.1; what is not encoded as it must be stays as it is.
    private static func decoded(_ text: String) -> String { plain(text.removingPercentEncoding ?? text) }

    /// The text without characters that turn around what is shown behind them.
    static func plain(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { !$0.isDirectionalFormatting }))
    }

    /// The text equivalent of a stream's bar.
    static func stream(_ stored: Int64, files: Int, share: Double?, isComplete: Bool) -> String {
        let amount = "\(ByteText.decimal(stored)) in \(count(files, "file"))"
        if isComplete { return "\(amount), plays without a network" }
        return share.map { "\(percent($0)) stored, \(amount)" } ?? "\(amount), of unknown share"
    }

    /// What a stored bar shows, in words.
    static func stored(_ stored: Int64, of length: Int64?, parts: Int) -> String {
        guard let length else { return "\(ByteText.decimal(stored)) stored" }
        guard stored < length else { return "\(ByteText.decimal(length)), all stored" }
        let parts = parts > 1 ? ", \(count(parts, "part"))" : ""
        return "\(percent(stored, of: length)) of \(ByteText.decimal(length)) stored\(parts)"
    }
}
