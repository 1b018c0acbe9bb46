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
