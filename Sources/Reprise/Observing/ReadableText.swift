/// Numbers of bytes as people read them.
package enum ByteText {
    /// Three significant digits and a decimal unit, such as `2.41 GB`.
    package static func decimal(_ bytes: Int64) -> String {
        guard bytes >= 1000 || bytes <= -1000 else { return "\(bytes) B" }
        var value = Double(bytes)
        var unit = ""
        for next in ["kB", "MB", "GB", "TB", "PB"] where value.magnitude >= 999.5 {
            value /= 1000
            unit = next
        }
        let digits = value.magnitude < 9.995 ? 2 : value.magnitude < 99.95 ? 1 : 0
        return "\(fixed(value, digits: digits)) \(unit)"
    }

    /// `value` with so many digits after the point, without Foundation's locale.
    package static func fixed(_ value: Double, digits: Int) -> String {
        // Beyond that, digits behind the point mean nothing, and an integer has no room for them.
        let value = value.isNaN ? 0 : min(max(value, -9e15), 9e15)
        guard digits > 0 else { return String(Int64(value.rounded())) }
        let scale = digits == 1 ? 10.0 : 100.0
        let scaled = Int64((value * scale).rounded())
        let fraction = String(scaled.magnitude % UInt64(scale))
        let padding = String(repeating: "0", count: max(0, digits - fraction.count))
        return "\(scaled < 0 ? "-" : "")\(scaled.magnitude / UInt64(scale)).\(padding)\(fraction)"
    }
}

extension Unicode.Scalar {
    /// Whether it is an explicit directional formatting character (Unicode Standard Annex #9 §2), which can turn around
    /// the rest of a line that it is shown in.
    package var isDirectionalFormatting: Bool {
        ("\u{202A}"..."\u{202E}").contains(self) || ("\u{2066}"..."\u{2069}").contains(self)
    }
}

extension String {
    /// The text without directional formatting and control characters, which a terminal or a player would obey.
    package var printable: String {
        let shown = unicodeScalars.filter { $0.properties.generalCategory != .control && !$0.isDirectionalFormatting }
        return String(String.UnicodeScalarView(shown))
    }
}
