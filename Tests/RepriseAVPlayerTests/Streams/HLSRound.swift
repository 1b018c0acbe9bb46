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
        private var tally = Tally()
        private var model: HLSPlayerModel?
        private var variant = 0
        private var position = 0

        init(seed: UInt64, in world: HLSWorld) {
            self.world = world
            folder = "/r\(seed)"
            random = SeededGenerator(seed: seed)
        }

        func play() async throws -> Tally {
            let film = publish()
            try await begin(film)
            for _ in 0..<Int.random(in: 8...20, using: &random) {
                switch Int.random(in: 0..<10, using: &random) {
                case 0: try await suspend(film)
                case 1: fail(film)
                case 2:
                    variant = Int.random(in: 0..<2, using: &random)
                    tally.switches += 1
                case 3: position = Int.random(in: 0..<film.segments, using: &random)
                case 4: try await replaceItem(film)
                default: try await playNext(film)
                }
            }
            try await end()
            try await checkOrigin(film)
            return tally
        }

        // MARK: - The stream

        /// Links of all forms: of a playlist's folder, of the host, and with the host.
        private func publish() -> HLSFilm {
            var random = random
            defer { self.random = random }
            return HLSFilm(
                at: folder, of: world.origin, segments: Int.random(in: 3...8, using: &random),
                hasMaps: Bool.random(using: &random), length: { Int64.random(in: 1000...40_000, using: &random) },
                link: { name in
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: name
                    case 1: "\(folder)/\(name)"
                    default: world.origin.url("\(folder)/\(name)")
                    }
                })
        }

        // MARK: - The app

        private func begin(_ film: HLSFilm) async throws {
            let url = try #require(film.url)
            let model = HLSPlayerModel(world.cache.asset(for: url), client: world.network)
            self.model = model
            try await model.start()
            #expect(model.variants.count == 2)
        }

        private func proxy() throws -> InAppProxy {
            let asset = try #require(model?.asset)
            return try #require(objc_getAssociatedObject(asset, LoaderKey.address) as? StreamItem).proxy.proxy
        }

        private func playNext(_ film: HLSFilm) async throws {
            let model = try #require(model)
            let segments = try await model.segments(of: variant)
            #expect(segments.count == film.segments)
            position = position < film.segments ? position : 0
            let segment = segments[position]
            let name = segment.url.lastPathComponent
            #expect(name == HLSFilm.segmentName(variant, position))
            let loaded = try await model.load(segment)
            if let map = loaded.map { #expect(map == film.bytes(of: HLSFilm.mapName(variant))) }
            let isRight = loaded.bytes == film.bytes(of: name)
            #expect(isRight, "\(folder)/\(name)")
            position += 1
            tally.segments += 1
        }

        /// The system takes the listener from the app, in one of its ways, and the player goes on.
        private func suspend(_ film: HLSFilm) async throws {
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
            try await playNext(film)
            #expect((model?.brokenRequests ?? 0) - broken <= 1, "the listener is back within one request")
            // A connection of the player's may have lived on, so that nothing noticed.
            #expect(proxy.check())
            #expect(proxy.openings > openings)
            tally.suspensions += 1
        }

        /// The origin fails for what the player wants next: for a moment, or in the middle of it.
        private func fail(_ film: HLSFilm) {
            let name = HLSFilm.segmentName(variant, min(position, film.segments - 1))
            guard let length = film.lengths[name], !isFetched(name) else { return }
            let isCut = Bool.random(using: &random)
            film.republish(name) { personality in
                if isCut {
                    personality.truncateAfter = length / 2
                } else {
                    (personality.status, personality.failFirst) = (503, 1)
                }
            }
            tally.failures += 1
        }

        private func isFetched(_ name: String) -> Bool { world.origin.snapshot["\(folder)/\(name)"].requestCount > 0 }

        private func replaceItem(_ film: HLSFilm) async throws {
            let old = model
            try await begin(film)
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
        private func checkOrigin(_ film: HLSFilm) async throws {
            let snapshot = await world.origin.settledSnapshot()
            for (name, length) in film.lengths {
                let sent = snapshot["\(folder)/\(name)"].requests.filter { $0.status != 503 }
                    .reduce(0) { $0 + $1.bodyBytesSent }
                #expect(sent <= length, "\(folder)/\(name)")
            }
        }
    }
#endif
