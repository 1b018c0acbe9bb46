import Foundation

/// How a container names the languages of its tracks.
///
/// Playlists have tags such as `pt-BR` (BCP 47).
enum ContainerLanguage: Sendable {
    /// Any tag.
    case tag
    /// Three letters: ISO 639-2/T.
    case iso
    /// Three letters that stand in QuickTime's table of languages.
    case quickTime

    /// What the language of a tag is called; the tag itself where there is no name for it.
    func name(of tag: String) -> String {
        guard self != .tag else { return tag }
        let code = Locale.Language(identifier: tag).languageCode?.identifier(.alpha3) ?? tag
        return self == .quickTime ? Self.quickTimeNames[code] ?? code : code
    }

    /// `playlist`, of HLS or DASH, with these names.
    func renamed(in playlist: String) -> String {
        playlist.replacing(/\b(LANGUAGE="|lang=["'])([^"']*)/) { match in
            "\(match.output.1)\(name(of: String(match.output.2)))"
        }
    }

    /// What ffmpeg takes for languages in QuickTime that ISO 639-2/T names otherwise.
    private static let quickTimeNames = [
        "deu": "ger", "ell": "gre", "fas": "per", "isl": "ice", "mkd": "mac", "nld": "dut", "sqi": "alb", "swe": "sve",
        "zho": "chi",
    ]
}
