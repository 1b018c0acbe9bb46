import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// The pictures that `serve` makes of stored streams with ffmpeg.
@Suite(
    .limit(minutes: 3),
    .enabled(if: StreamMedia.ffmpeg != nil, "ffmpeg is not installed; scripts/bootstrap test installs it"))
struct TitlePictureTests {
    private struct Titles: Decodable {
        struct Item: Decodable { let picture: String? }
        let titles: [Item]
        let makesPictures: Bool?
    }

    private static func titles(_ serving: Serving) async throws -> Titles {
        try JSONDecoder().decode(Titles.self, from: Data(try await serving.get("/-/titles.json?pictures=yes").body))
    }

    @Test("a stored stream has a picture, unless it is encrypted", arguments: StreamMedia.allCases)
    func stream(media: StreamMedia) async throws {
        let files = try await media.make(seconds: 2)
        try await Site.run { site async throws in
            for (name, bytes) in files {
                site.origin.set(
                    TestOrigin.Resource(.bytes(bytes), mediaType: StreamMedia.type(of: name)), at: "/show/" + name)
            }
            let url = site.origin.url("/show/" + media.index)
            let download = try await Command.run("download", site.directory, [url])
            #expect(download.exit == .status(0), "\(download)")
            let requests = site.origin.snapshot.requestCount
            try await Serving.run(site.directory) { serving async throws in
                await eventually { (try? await Self.titles(serving))?.makesPictures == nil }
                let titles = try await Self.titles(serving).titles
                #expect(titles.count == 1)
                #expect((titles.first?.picture == nil) == (media == .encrypted))
                guard let path = titles.first?.picture else { return }
                let picture = try await serving.get("/" + path)
                #expect(picture.head.status == 200 && picture.body.starts(with: [0xFF, 0xD8, 0xFF]))
            }
            #expect(site.origin.snapshot.requestCount == requests)
        }
    }

    @Test("an encrypted cache, and a list that wants none, have no pictures") func unwanted() async throws {
        let film = try await StreamMedia.byteRanges.make(seconds: 2)["film.mp4"]
        try await Site.run { site async throws in
            site.origin.set(TestOrigin.Resource(.bytes(try #require(film)), mediaType: "video/mp4"), at: "/film.mp4")
            let key = String(repeating: "0f", count: 32)
            for (variables, isMade) in [(["REPRISE_ENCRYPT_KEY": key], false), ([:], true)] {
                let cache = try TemporaryDirectory()
                defer { cache.remove() }
                try await Serving.run(cache, environment: variables) { serving async throws in
                    #expect(try await serving.get(site.target("/film.mp4")).head.status == 200)
                    let plain = try await serving.get("/-/titles.json").body
                    #expect(!String(decoding: plain, as: UTF8.self).contains("icture"))
                    await eventually { (try? await Self.titles(serving))?.makesPictures == nil }
                    #expect((try await Self.titles(serving).titles.first?.picture != nil) == isMade)
                }
            }
        }
    }

    @Test("without ffmpeg there are none, and nothing else changes") func noProgram() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 5000)
            try await Serving.run(site.directory, environment: ["PATH": site.directory.path]) { serving async throws in
                #expect(try await serving.get(site.target("/film.mp4")).head.status == 200)
                let titles = try await Self.titles(serving)
                #expect(titles.titles.count == 1 && titles.makesPictures == nil)
            }
        }
    }
}
