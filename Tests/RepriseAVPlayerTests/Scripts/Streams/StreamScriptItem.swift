#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import Foundation
    import Reprise
    import RepriseProxy
    import RepriseTesting

    @testable import RepriseAVPlayer

    /// An HLS item of a scenario, and the model that plays it.
    final class StreamScriptItem {
        /// What becomes of the listener while the app is suspended.
        enum ListenerLoss: String { case none, closed, shut }

        /// Bytes that are not those of the origin.
        struct WrongBytes: Error { let name: String }

        /// The player waits for the origin longer than the step allows.
        struct Stalled: Error {}

        /// A film's model, and where it is.
        private struct Film {
            let model: HLSPlayerModel
            let film: HLSFilm
            var variant = 0
            /// In seconds.
            var position = 0
            /// The segment that was loaded last, and is played while it lasts.
            var segment: Int?
        }

        private enum Player {
            case film(Film)
            case live(HLSLivePlayer)
        }

        private let asset: AVURLAsset
        private var player: Player
        private var segmentsOfFilm = 0
        /// The error with which the item has failed.
        private(set) var failure: Int?

        init(_ asset: AVURLAsset, of stream: StreamScriptWorld.Published, in world: StreamScriptWorld) {
            self.asset = asset
            player =
                switch stream {
                case .film(let film): .film(Film(model: HLSPlayerModel(asset, client: world.network), film: film))
                case .live(let stream): .live(HLSLivePlayer(asset, stream: stream, network: world.network))
                }
        }

        /// The proxy that the item plays through.
        var proxy: InAppProxy? {
            (objc_getAssociatedObject(asset, LoaderKey.address) as? StreamItem)?.proxy.proxy
        }

        var segments: Int {
            if case .live(let player) = player { player.segments } else { segmentsOfFilm }
        }

        var parts: Int { if case .live(let player) = player { player.parts } else { 0 } }

        /// Loads the multivariant playlist.
        func start(wait: @escaping (Duration) async throws -> Void) async throws {
            try await noting {
                switch player {
                case .film(let film):
                    film.model.wait = wait
                    try await film.model.start()
                case .live(let player): try await player.start()
                }
            }
        }

        /// Plays a second; false at the end.
        func playSecond(at now: Duration, wait: @escaping (Duration) async throws -> Void) async throws -> Bool {
            if let failure { throw HLSPlayerModel.ItemFailed(code: failure) }
            switch player {
            case .film(let film):
                film.model.wait = wait
                return try await noting { try await playSecond(of: film) }
            case .live(let player):
                try await noting { try await player.act(at: now) }
                return true
            }
        }

        private func playSecond(of given: Film) async throws -> Bool {
            var film = given
            let number = film.position / HLSFilm.targetDuration
            guard number < film.film.segments else { return false }
            if film.segment != number {
                let segments = try await film.model.segments(of: film.variant)
                let name = HLSFilm.segmentName(film.variant, number)
                guard segments.count == film.film.segments, segments[number].url.lastPathComponent == name else {
                    throw WrongBytes(name: "the playlist of \(name)")
                }
                let loaded = try await film.model.load(segments[number])
                if let map = loaded.map, map != film.film.bytes(of: HLSFilm.mapName(film.variant)) {
                    throw WrongBytes(name: HLSFilm.mapName(film.variant))
                }
                guard loaded.bytes == film.film.bytes(of: name) else { throw WrongBytes(name: name) }
                segmentsOfFilm += 1
                film.segment = number
            }
            film.position += 1
            player = .film(film)
            return true
        }

        /// Notes with which error the item fails.
        private func noting<T>(_ body: () async throws -> T) async throws -> T {
            do { return try await body() } catch let error as HLSPlayerModel.ItemFailed {
                failure = error.code
                throw error
            }
        }

        /// Goes to a second of a film; false for a live item, which plays at its end.
        func seek(to second: Int) -> Bool {
            guard case .film(var film) = player else { return false }
            (film.position, film.segment) = (second, nil)
            player = .film(film)
            return true
        }

        func change(to variant: Int) {
            switch player {
            case .film(var film):
                if film.variant != variant { (film.variant, film.segment) = (variant, nil) }
                player = .film(film)
            case .live(let player): player.change(to: variant)
            }
        }

        // MARK: - Suspension

        func suspend() {
            if case .live(let player) = player { player.abandon() }
        }

        func resume(at now: Duration) {
            if case .live(let player) = player { player.resume(at: now) }
        }

        /// Has the player wait after a broken connection until `pause` returns.
        func setPause(_ pause: @escaping () async -> Void) {
            switch player {
            case .film(let film): film.model.pause = pause
            case .live(let player): player.pause = pause
            }
        }
    }
#endif
