#if Streams
    import Foundation
    import HTTPTypes
    import Reprise
    import RepriseHTTPClient
    import RepriseTesting
    import TestLimits
    import Testing

    @testable import RepriseAVPlayer

    /// Addresses for players that take only a URL.
    @Suite(.limit(minutes: 2)) struct PlaybackAddressTests {
        /// A file, and an app that plays it through an address.
        private struct Site {
            let world: HLSWorld

            var cache: MediaCache { world.cache }
            var origin: TestOrigin { world.origin }
            var film: URL { get throws { try #require(URL(string: origin.url("/film.mp4"))) } }

            static func run(_ body: (Site) async throws -> Void) async throws {
                try await HLSWorld.run { world in
                    world.origin.set(
                        TestOrigin.Resource(.pattern(seed: 1, length: 50_000), mediaType: "video/mp4"), at: "/film.mp4")
                    try await body(Site(world: world))
                }
            }

            /// What a player gets at `url`.
            func bytes(at url: URL) async throws -> [UInt8] {
                let response = try await world.network.send(OriginRequest(url: try ResourceURL(url.absoluteString)))
                var bytes: [UInt8] = []
                while let piece = try await response.body.next() { piece.withUnsafeBytes { bytes += $0 } }
                return bytes
            }
        }

        @Test func aFileComesOnceFromItsOriginAndThenFromDisk() async throws {
            try await Site.run { site in
                let address = try site.cache.address(for: site.film)
                #expect(address.url.host == "127.0.0.1" && address.url.lastPathComponent == "film.mp4")
                for _ in 0..<2 {
                    let bytes = try await site.bytes(at: address.url)
                    #expect(bytes == TestPattern.bytes(in: 0..<50_000, seed: 1))
                }
                let requests = await site.origin.settledSnapshot()["/film.mp4"].requestCount
                #expect(requests == 1)
                #expect(await site.cache.isCached(try site.film))
            }
        }

        @Test func itCanBeUsedAsLongAsOneWithTheSameOptionsIsHeld() async throws {
            try await Site.run { site in
                var first: PlaybackAddress? = try site.cache.address(for: site.film)
                let url = try #require(first?.url)
                var second: PlaybackAddress? = try site.cache.address(for: site.film)
                #expect(second?.url == url)
                first = nil
                #expect(try await site.bytes(at: url).count == 50_000)
                second = nil
                // The listener closes in a task of its own.
                await eventually { (try? await site.bytes(at: url)) == nil }
                #expect(first == nil && second == nil)
            }
        }

        @Test func headersAndKeyGoWithTheFile() async throws {
            try await Site.run { site in
                var options = PlaybackOptions()
                options.headers = ["Authorization": "Bearer t"]
                options.cacheKey = CacheKey("film")
                let address = try site.cache.address(for: site.film, options: options)
                _ = try await site.bytes(at: address.url)
                let request = await site.origin.settledSnapshot()["/film.mp4"].requests.first
                #expect(request?.fields[.authorization] == "Bearer t")
                let keys = try await site.cache.entries().map(\.key)
                #expect(keys == [CacheKey("film")])
                let other = try site.cache.address(for: site.film)
                #expect(other.url.port != address.url.port)
            }
        }

        @Test(arguments: ["file:///films/a.mp4", "ftp://127.0.0.1/a.mp4", "skd://key"])
        func whatCannotBeCachedIsItsOwnAddress(text: String) async throws {
            try await Site.run { site in
                let url = try #require(URL(string: text))
                let address = try site.cache.address(for: url)
                #expect(address.url == url)
            }
        }

        @Test func headersThatCannotBeSentAreRefused() async throws {
            try await Site.run { site in
                var options = PlaybackOptions()
                options.headers = ["Authorization": "a\nb"]
                let error = #expect(throws: RepriseError.self) {
                    try site.cache.address(for: site.film, options: options)
                }
                #expect(error?.code == .invalidArgument)
            }
        }
    }
#endif
