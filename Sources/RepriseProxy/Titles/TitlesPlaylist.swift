import Reprise

/// Titles as a playlist for players: extended M3U.
package enum TitlesPlaylist {
    static let mediaType: StaticString = "audio/x-mpegurl; charset=utf-8"

    /// The playlist of `titles`, each with its name and the address at which it is played.
    package static func text(_ titles: [(name: String, address: String)]) -> String {
        titles.reduce(into: "#EXTM3U\n") { $0 += "#EXTINF:-1,\($1.name.printable)\n\($1.address)\n" }
    }

    /// The playlist of all titles that `query` selects, played at `server`, an address without a slash at its end.
    ///
    /// The query of a URL may have secrets, so that such a title is played by its identifier.
    static func text(_ query: TitlesReport.Query, of service: ProxyService, at server: String) async throws -> String {
        let titles = try await service.catalog.titles(query.search, in: query.order)
        return text(
            titles.map { title in
                let hasQuery = title.url.target.contains("?")
                let address =
                    hasQuery ? "\(server)/-/play?id=\(service.cache.id(of: title.key))" : title.url.through(server)
                return (title.shownName, address)
            })
    }
}
