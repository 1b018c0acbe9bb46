import Foundation
import Testing
@testable import RepriseAVPlayer

@Suite struct LoaderRouteTests {
    private func route(_ url: String?, playlist: Bool = false) throws -> LoaderRoute {
        let loader = try #require(URL(string: "reprise+https://example.com/a/film?x=1"))
        return LoaderRoute(try url.map { try #require(URL(string: $0)) }, loaderURL: loader, isPlaylist: playlist)
    }

    @Test(arguments: [true, false]) func theAssetsOwnURLIsTheAssets(_ isPlaylist: Bool) throws {
        #expect(try route("reprise+https://example.com/a/film?x=1", playlist: isPlaylist) == .asset)
        #expect(try route("reprise+https://example.com/a/film?x=1#t=10", playlist: isPlaylist) == .asset)
    }

    @Test func whatAPlaylistNamesIsALink() throws {
        let link = try #require(URL(string: "https://example.com/a/part.ts"))
        #expect(try route("reprise+https://example.com/a/part.ts", playlist: true) == .link(link))
        #expect(try route("reprise+https://example.com/a/part.ts", playlist: false) == .player)
    }

    /// Including the original of the asset's URL: iOS 26 may ask for it after a redirect.
    @Test(arguments: [
        "https://example.com/a/film?x=1", "https://example.com/a/part.ts", "http://example.com/", "skd://key", nil,
    ]) func otherSchemesAreThePlayers(_ url: String?) throws {
        #expect(try route(url) == .player)
        #expect(try route(url, playlist: true) == .player)
    }
}
