#if canImport(AVFoundation)
    import AVFoundation
    import Foundation
    import Reprise
    import RepriseHTTPClient
    import RepriseStreams
    import RepriseTesting
    import TestLimits
    import Testing

    @testable import RepriseAVPlayer

    struct Loaded: Sendable {
        let status: Int
        let bytes: [UInt8]
    }

    struct StreamSite: Sendable {
        let origin: TestOrigin
        let cache: MediaCache
        /// The player's own network.
        let network: NIOOrigin

        static func run(keyPolicy: CacheKeyPolicy? = nil, _ body: (StreamSite) async throws -> Void) async throws {
            let directory = try TemporaryDirectory()
            let origin = try await TestOrigin.start()
            let (client, network) = (NIOOrigin(), NIOOrigin())
            var configuration = MediaCache.Configuration()
            configuration.downloadsStreams = true
            if let keyPolicy { configuration.keyPolicy = keyPolicy }
            let cache = try await MediaCache.open(
                directory: directory.path, origin: client, configuration: configuration)
            let list = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:6,\na.ts\n#EXTINF:6,\nb.ts\n#EXT-X-ENDLIST\n"
            origin.set(
                TestOrigin.Resource(.bytes(Array(list.utf8)), mediaType: "application/vnd.apple.mpegurl"),
                at: "/s/list.m3u8")
            for name in ["a", "b"] {
                origin.set(
                    TestOrigin.Resource(.pattern(seed: 1, length: 5000), mediaType: "video/mp2t"),
                    at: "/s/\(name).ts")
            }
            for name in ["a", "b", "c"] {
                origin.set(
                    TestOrigin.Resource(.pattern(seed: 2, length: 50_000), mediaType: "audio/mpeg"),
                    at: "/\(name).mp3")
            }
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(StreamSite(origin: origin, cache: cache, network: network)))
            } catch { result = .failure(error) }
            await cache.close()
            for client in [client, network] { await client.shutdown() }
            await origin.stop()
            directory.remove()
            try result.get()
        }

        func url(_ path: String = "/s/list.m3u8") throws -> URL { try #require(URL(string: origin.url(path))) }

        /// The URL of a file beside the one at `url`.
        func beside(_ url: URL, _ name: String) throws -> URL {
            try #require(URL(string: name, relativeTo: url)).absoluteURL
        }

        func load(_ url: URL) async throws -> Loaded {
            let response = try await network.send(OriginRequest(url: try ResourceURL(url.absoluteString)))
            var bytes: [UInt8] = []
            while let piece = try await response.body.next() { piece.withUnsafeBytes { bytes += $0 } }
            return Loaded(status: response.head.status.code, bytes: bytes)
        }

        /// Loads the list and these files beside it as the player of an item does.
        func play(_ asset: AVURLAsset, _ names: [String] = ["a.ts", "b.ts"]) async throws {
            _ = try await load(asset.url)
            for name in names { _ = try await load(try beside(asset.url, name)) }
            await eventually { cache.isIdle }
        }
    }
#endif
