#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import Foundation
    import Reprise
    import RepriseProxy
    import RepriseTesting
    import TestLimits
    import Testing

    @testable import RepriseAVPlayer

    #if canImport(Darwin)
        import Darwin
    #else
        import Glibc
    #endif

    /// One stream of its own, and one app that plays it.
    final class HLSRound {
        /// What happened, in numbers.
        struct Tally {
            var segments = 0
            var suspensions = 0
            var failures = 0
            var switches = 0
            var releases = 0

            mutating func add(_ other: Tally) {
                segments += other.segments
                suspensions += other.suspensions
                failures += other.failures
                switches += other.switches
                releases += other.releases
            }
        }

        private let world: HLSWorld
        private let folder: String
        private var random: SeededGenerator
        private let count: Int
        private let hasMaps: Bool
        private var lengths: [String: Int64] = [:]
        private var tally = Tally()
        private var model: HLSPlayerModel?
        private var variant = 0
        private var position = 0

        init(seed: UInt64, in world: HLSWorld) {
            self.world = world
            folder = "/r\(seed)"
            random = SeededGenerator(seed: seed)
            count = Int.random(in: 3...8, using: &random)
            hasMaps = Bool.random(using: &random)
        }

        func play() async throws -> Tally {
            publish()
            try await begin()
            for _ in 0..<Int.random(in: 8...20, using: &random) {
                switch Int.random(in: 0..<10, using: &random) {
                case 0: try await suspend()
                case 1: fail()
                case 2:
                    variant = Int.random(in: 0..<2, using: &random)
                    tally.switches += 1
                case 3: position = Int.random(in: 0..<count, using: &random)
                case 4: try await replaceItem()
                default: try await playNext()
                }
            }
            try await end()
            try await checkOrigin()
            return tally
        }

        // MARK: - The stream

        private func publish() {
            var main = "#EXTM3U\n"
            for variant in 0..<2 {
                let name = "v\(variant).m3u8"
                main += "#EXT-X-STREAM-INF:BANDWIDTH=\(1000 * (variant + 1))\n\(link(name))\n"
                publishVariant(variant, at: name)
            }
            publishText(main, at: "main.m3u8")
        }

        private func publishVariant(_ variant: Int, at name: String) {
            var list = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n"
            if hasMaps {
                list += "#EXT-X-MAP:URI=\"\(link("m\(variant).mp4"))\"\n"
                publishMedia("m\(variant).mp4", length: 700)
            }
            for segment in 0..<count {
                let name = "s\(variant)-\(segment).mp4"
                list += "#EXTINF:6,\n\(link(name))\n"
                publishMedia(name, length: Int64.random(in: 1000...40_000, using: &random))
            }
            publishText(list + "#EXT-X-ENDLIST\n", at: name)
        }

        /// Links of all forms: of a playlist's folder, of the host, and with the host.
        private func link(_ name: String) -> String {
            switch Int.random(in: 0..<3, using: &random) {
            case 0: name
            case 1: "\(folder)/\(name)"
            default: world.origin.url("\(folder)/\(name)")
            }
        }

        private func publishText(_ text: String, at name: String) {
            world.origin.set(
                TestOrigin.Resource(
                    .bytes(Array(text.utf8)), mediaType: "application/vnd.apple.mpegurl", etag: "\"\(name)\""),
                at: "\(folder)/\(name)")
        }

        private func publishMedia(
            _ name: String, length: Int64, _ configure: (inout TestOrigin.Personality) -> Void = { _ in }
        ) {
            lengths[name] = length
            world.origin.set(
                TestOrigin.Resource(
                    .pattern(seed: seed(of: name), length: length), mediaType: "video/mp4", etag: "\"\(name)\"",
                    personality: TestOrigin.Personality(configure)), at: "\(folder)/\(name)")
        }

        private func seed(of name: String) -> UInt64 { name.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) } }

        // MARK: - The app

        private func begin() async throws {
            let url = try #require(URL(string: world.origin.url("\(folder)/main.m3u8")))
            let model = HLSPlayerModel(world.cache.asset(for: url), client: world.network)
            self.model = model
            try await model.start()
            #expect(model.variants.count == 2)
        }

        private func proxy() throws -> InAppProxy {
            let asset = try #require(model?.asset)
            return try #require(objc_getAssociatedObject(asset, LoaderKey.address) as? StreamItem).proxy.proxy
        }

        private func playNext() async throws {
            let model = try #require(model)
            let segments = try await model.segments(of: variant)
            #expect(segments.count == count)
            position = position < count ? position : 0
            let segment = segments[position]
            let name = segment.url.lastPathComponent
            #expect(name == "s\(variant)-\(position).mp4")
            let loaded = try await model.load(segment)
            if let map = loaded.map {
                #expect(map == TestPattern.bytes(in: 0..<700, seed: seed(of: "m\(variant).mp4")))
            }
            let isRight = try loaded.bytes == TestPattern.bytes(in: 0..<#require(lengths[name]), seed: seed(of: name))
            #expect(isRight, "\(folder)/\(name)")
            position += 1
            tally.segments += 1
        }

        /// The system takes the listener from the app, in one of its ways, and the player goes on.
        private func suspend() async throws {
            let proxy = try proxy()
            let openings = proxy.openings
            let isClosed = Bool.random(using: &random)
            if isClosed { close(proxy.descriptor) } else { shutdown(proxy.descriptor, CInt(SHUT_RDWR)) }
            if Bool.random(using: &random) {
                NotificationCenter.default.post(
                    name: Notification.Name("UIApplicationWillEnterForegroundNotification"), object: nil)
            }
            model?.pause = { await eventually { proxy.openings > openings } }
            let broken = model?.brokenRequests ?? 0
            try await playNext()
            #expect((model?.brokenRequests ?? 0) - broken <= 1, "the listener is back within one request")
            // A connection of the player's may have lived on, so that nothing noticed.
            #expect(proxy.check())
            #expect(proxy.openings > openings)
            tally.suspensions += 1
        }

        /// The origin fails for what the player wants next: for a moment, or in the middle of it.
        private func fail() {
            let name = "s\(variant)-\(min(position, count - 1)).mp4"
            guard let length = lengths[name], !isFetched(name) else { return }
            let isCut = Bool.random(using: &random)
            publishMedia(name, length: length) { personality in
                if isCut {
                    personality.truncateAfter = length / 2
                } else {
                    (personality.status, personality.failFirst) = (503, 1)
                }
            }
            tally.failures += 1
        }

        private func isFetched(_ name: String) -> Bool { world.origin.snapshot["\(folder)/\(name)"].requestCount > 0 }

        private func replaceItem() async throws {
            let old = model
            try await begin()
            withExtendedLifetime(old) {}
            tally.releases += 1
        }

        /// The item goes, and with it the proxy.
        private func end() async throws {
            var holder: InAppProxy? = try proxy()
            let port = try #require(holder?.port)
            let service = try #require(holder)
            holder = nil
            model = nil
            await service.stop()
            #expect(service.connections == 0 && service.answersUnderWay == 0)
            #expect(!service.check(), "port \(port) is closed")
        }

        /// Each byte of the media came once.
        private func checkOrigin() async throws {
            let snapshot = await world.origin.settledSnapshot()
            for (name, length) in lengths {
                let sent = snapshot["\(folder)/\(name)"].requests.filter { $0.status != 503 }
                    .reduce(0) { $0 + $1.bodyBytesSent }
                #expect(sent <= length, "\(folder)/\(name)")
            }
        }
    }
#endif
