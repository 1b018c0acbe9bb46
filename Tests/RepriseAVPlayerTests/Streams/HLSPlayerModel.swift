#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import Foundation
    import Reprise
    import RepriseHTTPClient

    @testable import RepriseAVPlayer

    /// A player that plays an HLS item as AVPlayer does, over HTTP from the asset's URL, without decoding anything.
    final class HLSPlayerModel {
        /// The item has failed with this code.
        struct ItemFailed: Error { let code: Int }

        /// A segment, with what the player must have loaded before it.
        struct Segment: Hashable {
            let url: URL
            let map: URL?
        }

        let asset: AVURLAsset
        /// Number of requests that found no connection or a broken one.
        private(set) var brokenRequests = 0
        private let exchange: HLSExchange
        private var rules = HLSPlayerRules()
        private(set) var variants: [URL] = []
        private var lists: [URL: [Segment]] = [:]
        private var maps: Set<URL> = []

        init(_ asset: AVURLAsset, client: NIOOrigin) {
            self.asset = asset
            exchange = HLSExchange(client: client)
        }

        /// Returns after a broken connection, when the next request may be sent.
        var pause: () async -> Void = {}

        /// Lets time pass before a request is sent again; throws if the player has waited long enough.
        var wait: (Duration) async throws -> Void = { _ in }

        /// Loads the multivariant playlist.
        func start() async throws {
            let lines = try await lines(of: asset.url)
            variants = lines.filter { !$0.hasPrefix("#") }.compactMap { URL(string: $0, relativeTo: asset.url) }
        }

        /// The segments of a variant, whose playlist is loaded once: it has ended.
        func segments(of variant: Int) async throws -> [Segment] {
            let url = variants[variant].absoluteURL
            if let known = lists[url] { return known }
            var map: URL?
            var segments: [Segment] = []
            for line in try await lines(of: url) {
                if line.hasPrefix("#EXT-X-MAP:URI=\"") {
                    map = URL(
                        string: line.split(separator: "\"").dropFirst().first.map(String.init) ?? "", relativeTo: url)
                } else if !line.hasPrefix("#"), let segment = URL(string: line, relativeTo: url) {
                    segments.append(Segment(url: segment, map: map))
                }
            }
            lists[url] = segments
            return segments
        }

        /// The bytes of a segment, after those of its map.
        func load(_ segment: Segment) async throws -> (map: [UInt8]?, bytes: [UInt8]) {
            var map: [UInt8]?
            if let url = segment.map, maps.insert(url).inserted { map = try await load(url) }
            return (map, try await load(segment.url))
        }

        private func lines(of url: URL) async throws -> [String] {
            String(decoding: try await load(url), as: UTF8.self).split(separator: "\n").map(String.init)
        }

        private func load(_ url: URL) async throws -> [UInt8] {
            while true {
                let (outcome, body) = try await exchange.run(url)
                switch rules.react(to: outcome) {
                case .use: return body
                case .again(let delay):
                    if outcome == .broken {
                        brokenRequests += 1
                        await pause()
                    }
                    try await wait(delay)
                case .fail(let code): throw ItemFailed(code: code)
                }
            }
        }
    }
#endif
