import Foundation
import Reprise

/// The titles as a playlist that players browse: extended M3U.
struct TitlesPlaylist {
    static let mediaType: StaticString = "audio/x-mpegurl; charset=utf-8"

    let text: String

    /// The titles that `query` asks for, all on one page, with links below `address`, which has no slash at its end.
    init(_ query: TitlesReport.Query, of service: ProxyService, at address: String) async throws {
        let titles = try await service.catalog.titles(query.search, in: query.order)
        text = titles.reduce(into: "#EXTM3U\n") { text, title in
            let name = Self.plain(title.shownName)
            text += "#EXTINF:-1,\(name)\n\(address)\(Self.path(to: title, in: service.cache))\n"
        }
    }

    /// The text with spaces for line breaks and other control characters, which a player might obey.
    private static func plain(_ text: String) -> String {
        var plain = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where !scalar.isDirectionalFormatting {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: plain.append(" ")
            default: plain.append(scalar)
            }
        }
        return String(plain)
    }

    /// A query may have secrets, which no playlist tells.
    private static func path(to title: Title, in cache: MediaCache) -> String {
        let url = title.url
        return url.target.contains("?")
            ? "/-/play?id=\(cache.id(of: title.key))" : "/\(url.scheme.rawValue)/\(url.authority)\(url.target)"
    }
}
