#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import Foundation
    import HTTPTypes
    import Reprise
    import RepriseHTTPClient
    import RepriseTesting
    import TestLimits
    import Testing

    @testable import RepriseAVPlayer

    /// What plays on this device, on another one.
    @Suite(.alsoLate, .limit(minutes: 2)) struct CastURLTests {
        private struct Site {
            let world: HLSWorld
            let film: URL
            let firstSegment: [UInt8]

            var file: URL { get throws { try #require(URL(string: world.origin.url("/song.mp3"))) } }

            static func run(clock: CacheClock? = nil, _ body: (Site) async throws -> Void) async throws {
                try await HLSWorld.run(clock: clock) { world in
                    world.origin.set(
                        TestOrigin.Resource(
                            .pattern(seed: 1, length: 50_000), mediaType: "audio/mpeg",
                            personality: TestOrigin.Personality { $0.demandedAuthorization = "Bearer a" }),
                        at: "/song.mp3")
                    let film = HLSFilm(at: "/film", of: world.origin, segments: 3, hasMaps: false, length: { 9000 })
                    let segment = try #require(film.bytes(of: HLSFilm.segmentName(0, 0)))
                    try await body(Site(world: world, film: try #require(film.url), firstSegment: segment))
                }
            }

            func load(_ url: URL) async throws -> (status: Int, bytes: [UInt8]) {
                let response = try await world.network.send(OriginRequest(url: try ResourceURL(url.absoluteString)))
                var bytes: [UInt8] = []
                while let piece = try await response.body.next() { piece.withUnsafeBytes { bytes += $0 } }
                return (response.head.status.code, bytes)
            }

            /// Plays the first segment as a receiver does.
            func play(_ url: URL) async throws {
                let model = HLSPlayerModel(AVURLAsset(url: url), client: world.network)
                try await model.start()
                let segments = try await model.segments(of: 0)
                let loaded = try await model.load(segments[0])
                #expect(loaded.bytes == firstSegment)
            }

            func isGone(_ url: URL) async -> Bool { (try? await load(url)) == nil }
        }

        @Test func aStreamPlaysThroughItAndIsStored() async throws {
            try await Site.run { site in
                let cast = try site.world.cache.castURL(for: site.film, at: "127.0.0.1")
                #expect(cast.url.host() == "127.0.0.1")
                for _ in 0..<2 { try await site.play(cast.url) }
                let requests = await site.world.origin.settledSnapshot()["/film/s0-0.mp4"].requestCount
                #expect(requests == 1)
                withExtendedLifetime(cast) {}
            }
        }

        @Test func aFileIsAskedForWithTheAppsFields() async throws {
            try await Site.run { site in
                var options = PlaybackOptions()
                options.headers = ["Authorization": "Bearer a"]
                let cast = try site.world.cache.castURL(for: site.file, options: options, at: "127.0.0.1")
                let (status, bytes) = try await site.load(cast.url)
                #expect(status == 200 && bytes == TestPattern.bytes(in: 0..<50_000, seed: 1))
                let other = try #require(URL(string: cast.url.absoluteString.replacing("song.mp3", with: "other.mp3")))
                #expect(try await site.load(other).status == 404)
                withExtendedLifetime(cast) {}
            }
        }

        @Test func eachHasItsOwnAddress() async throws {
            try await Site.run { site in
                let url = site.film
                let casts = [
                    try site.world.cache.castURL(for: url, at: "127.0.0.1"),
                    try site.world.cache.castURL(for: url, at: "127.0.0.1"),
                ]
                #expect(casts[0].url.path != casts[1].url.path && casts[0].url.port != casts[1].url.port)
                await casts[0].end()
                #expect(await site.isGone(casts[0].url))
                try await site.play(casts[1].url)
                withExtendedLifetime(casts) {}
            }
        }

        @Test func itGoesWithItsObject() async throws {
            try await Site.run { site in
                var cast: CastURL? = try site.world.cache.castURL(for: site.film, at: "127.0.0.1")
                let url = try #require(cast?.url)
                try await site.play(url)
                cast = nil
                await eventually { await site.isGone(url) }
            }
        }

        @Test func whatCannotBeCastIsRefused() async throws {
            try await Site.run { site in
                let cache = site.world.cache
                let local = URL(fileURLWithPath: "/tmp/a.mp3")
                let first = #expect(throws: RepriseError.self) { try cache.castURL(for: local, at: "127.0.0.1") }
                #expect(first?.code == .invalidURL)
                let file = try site.file
                let second = #expect(throws: RepriseError.self) { try cache.castURL(for: file, at: "host.example") }
                #expect(second?.code == .invalidArgument)
                // An address of documentation (RFC 5737), which no device has.
                let third = #expect(throws: RepriseError.self) { try cache.castURL(for: file, at: "192.0.2.1") }
                #expect(third?.code == .invalidArgument)
            }
        }

        // MARK: - External playback

        @MainActor private static func follower(
            _ player: AVPlayer, _ cache: MediaCache,
            prepare: @escaping @MainActor (AVPlayerItem, AVPlayerItem) -> Void = { _, _ in }
        ) -> ExternalPlaybackFollower {
            let plan = ExternalPlaybackFollower.Plan(cache: cache, prepare: prepare) { item throws(RepriseError) in
                try cache.castURL(for: item, at: "127.0.0.1")
            }
            return ExternalPlaybackFollower.follow(player, plan)
        }

        /// Returns once `condition` holds.
        @MainActor private static func comes(_ condition: () -> Bool) async {
            while !condition(), !Task.isCancelled { await breathe() }
        }

        /// AirPlay begins; returns when the receiver has an item.
        @MainActor private static func begin(_ player: AVPlayer, _ follower: ExternalPlaybackFollower) async {
            player.setExternalPlaybackActive(true)
            await comes { follower.address != nil }
        }

        /// AirPlay ends; returns the item that plays here again.
        @MainActor private static func end(
            _ player: AVPlayer, _ follower: ExternalPlaybackFollower
        ) async throws -> AVPlayerItem {
            player.setExternalPlaybackActive(false)
            await comes { follower.address == nil }
            return try #require(player.currentItem)
        }

        @Test func whileAReceiverPlaysTheItemIsOneThatItCanLoad() async throws {
            try await Site.run { site in try await Self.whileAReceiverPlaysTheItemIsOneThatItCanLoad(site) }
        }

        @MainActor private static func whileAReceiverPlaysTheItemIsOneThatItCanLoad(_ site: Site) async throws {
            let cache = site.world.cache
            let player = AVPlayer(playerItem: cache.playerItem(for: site.film))
            let first = try #require(player.currentItem)
            first.setDuration(CMTime(value: 18, timescale: 1))
            first.setStatus(.readyToPlay)
            player.play()
            player.seek(to: CMTime(value: 15, timescale: 2), toleranceBefore: .zero, toleranceAfter: .zero)
            let follower = follower(player, cache)
            await Self.begin(player, follower)
            let address = try #require(follower.address)
            let item = try #require(player.currentItem)
            #expect((item.asset as? AVURLAsset)?.url == address.url)
            #expect(player.isLate || player.currentTime().seconds == 7.5)
            #expect(player.rate == 1)
            try await site.play(address.url)
            // The player plays nowhere while it changes to the new item.
            player.setExternalPlaybackActive(false)
            follower.update()
            #expect(player.currentItem === item)
            player.setExternalPlaybackActive(true)
            item.setDuration(CMTime(value: 18, timescale: 1))
            item.setStatus(.readyToPlay)
            player.seek(to: CMTime(value: 9, timescale: 1))
            let last = try await Self.end(player, follower)
            #expect(last !== item && (last.asset as? AVURLAsset)?.url.host() == "127.0.0.1")
            #expect(player.timeWhenReady(follower) == 9)
            #expect(MediaCache.source(of: last.asset)?.url.description == site.film.absoluteString)
        }

        @Test func theAppPreparesEachItem() async throws {
            try await Site.run { site in try await Self.theAppPreparesEachItem(site) }
        }

        @MainActor private static func theAppPreparesEachItem(_ site: Site) async throws {
            let cache = site.world.cache
            let player = AVPlayer(playerItem: cache.playerItem(for: site.film))
            let first = try #require(player.currentItem)
            first.preferredPeakBitRate = 1_000_000
            first.setStatus(.readyToPlay)
            let follower = follower(player, cache) { [weak player] old, new in
                #expect(player?.currentItem === old, "it is called before the exchange")
                new.preferredPeakBitRate = old.preferredPeakBitRate
            }
            await Self.begin(player, follower)
            let item = try #require(player.currentItem)
            #expect(item !== first && item.preferredPeakBitRate == 1_000_000)
            item.setStatus(.readyToPlay)
            let last = try await Self.end(player, follower)
            #expect(last !== item && last.preferredPeakBitRate == 1_000_000)
        }

        /// Such as by a view that appears again.
        @Test func aPlayerThatIsFollowedAgainKeepsItsReceiver() async throws {
            try await Site.run { site in try await Self.aPlayerThatIsFollowedAgainKeepsItsReceiver(site) }
        }

        @MainActor private static func aPlayerThatIsFollowedAgainKeepsItsReceiver(_ site: Site) async throws {
            let cache = site.world.cache
            let player = AVPlayer(playerItem: cache.playerItem(for: site.film))
            try #require(player.currentItem).setStatus(.readyToPlay)
            let first = follower(player, cache) { _, new in new.preferredPeakBitRate = 1 }
            player.setExternalPlaybackActive(true)
            await Self.comes { first.address != nil }
            let address = try #require(first.address)
            let item = try #require(player.currentItem)
            let second = follower(player, cache) { _, new in new.preferredPeakBitRate = 2 }
            #expect(second.address === address && player.currentItem === item)
            try await site.play(address.url)
            item.setDuration(CMTime(value: 18, timescale: 1))
            item.setStatus(.readyToPlay)
            player.seek(to: CMTime(value: 9, timescale: 1))
            player.setExternalPlaybackActive(false)
            await Self.comes { second.address == nil }
            let last = try #require(player.currentItem)
            #expect(last !== item && player.timeWhenReady(second) == 9)
            #expect(item.preferredPeakBitRate == 1 && last.preferredPeakBitRate == 2)
        }

        /// Such as in a network whose devices do not reach each other.
        @Test func anItemThatFailsAtTheReceiverIsBroughtBack() async throws {
            try await Site.run { site in try await Self.anItemThatFailsAtTheReceiverIsBroughtBack(site) }
        }

        @MainActor private static func anItemThatFailsAtTheReceiverIsBroughtBack(_ site: Site) async throws {
            let cache = site.world.cache
            let player = AVPlayer(playerItem: cache.playerItem(for: site.film))
            let first = try #require(player.currentItem)
            first.setDuration(CMTime(value: 18, timescale: 1))
            first.setStatus(.readyToPlay)
            player.seek(to: CMTime(value: 7, timescale: 1))
            player.play()
            let follower = follower(player, cache)
            await Self.begin(player, follower)
            let item = try #require(player.currentItem)
            // What a player says of an item that it has never played means nothing.
            player.seek(to: CMTime(value: 0, timescale: 1))
            player.pause()
            item.setStatus(.failed)
            let last = try await Self.end(player, follower)
            #expect(MediaCache.source(of: last.asset)?.url.description == site.film.absoluteString)
            #expect(player.timeWhenReady(follower) == 7 && player.rate == 1)
            // The receiver is still chosen, but would not get it either.
            last.setStatus(.readyToPlay)
            player.setExternalPlaybackActive(true)
            follower.update()
            #expect(follower.address == nil && player.currentItem === last)
            let next = cache.playerItem(for: site.film)
            next.setStatus(.readyToPlay)
            player.replaceCurrentItem(with: next)
            await Self.comes { follower.address != nil }
            #expect(player.currentItem !== next, "another item is sent")
        }

        @Test func anItemThatFailsLaterIsBroughtBackToWhereTheReceiverWas() async throws {
            try await Site.run { site in
                try await Self.anItemThatFailsLaterIsBroughtBackToWhereTheReceiverWas(site)
            }
        }

        @MainActor private static func anItemThatFailsLaterIsBroughtBackToWhereTheReceiverWas(
            _ site: Site
        ) async throws {
            let player = AVPlayer(playerItem: site.world.cache.playerItem(for: site.film))
            let first = try #require(player.currentItem)
            first.setDuration(CMTime(value: 18, timescale: 1))
            first.setStatus(.readyToPlay)
            player.seek(to: CMTime(value: 12, timescale: 1))
            let follower = follower(player, site.world.cache)
            await Self.begin(player, follower)
            let item = try #require(player.currentItem)
            item.setStatus(.readyToPlay)
            follower.update()
            // The user goes back.
            player.seek(to: CMTime(value: 3, timescale: 1))
            item.setStatus(.failed)
            player.setExternalPlaybackActive(false)
            await Self.comes { follower.address == nil }
            #expect(player.currentItem !== item && player.timeWhenReady(follower) == 3)
        }

        /// A player says neither how long an item is that it has yet to open, nor where the app wants it to start.
        @Test func theNextItemIsSentWhenItIsOpen() async throws {
            try await Site.run { site in try await Self.theNextItemIsSentWhenItIsOpen(site) }
        }

        @MainActor private static func theNextItemIsSentWhenItIsOpen(_ site: Site) async throws {
            let cache = site.world.cache
            let player = AVPlayer()
            player.setExternalPlaybackActive(true)
            let follower = follower(player, cache)
            let next = cache.playerItem(for: site.film)
            player.replaceCurrentItem(with: next)
            player.seek(to: CMTime(value: 7, timescale: 1))
            follower.update()
            #expect(follower.address == nil && player.currentItem === next)
            next.setDuration(CMTime(value: 18, timescale: 1))
            next.setStatus(.readyToPlay)
            await Self.comes { follower.address != nil }
            // A late player drops the app's seek, too.
            #expect(player.currentItem !== next && player.timeWhenReady(follower) == (player.isLate ? 0 : 7))
        }

        @Test(arguments: [false, true])
        func aSeekThatAPlayerDropsAfterAnExchangeIsRepeated(hasSoughtSince: Bool) async throws {
            try await LatePlayers.$areUsed.withValue(true) {
                try await Site.run { site in
                    try await Self.aSeekThatAPlayerDropsAfterAnExchangeIsRepeated(site, hasSoughtSince: hasSoughtSince)
                }
            }
        }

        @MainActor private static func aSeekThatAPlayerDropsAfterAnExchangeIsRepeated(
            _ site: Site, hasSoughtSince: Bool
        ) async throws {
            let player = AVPlayer(playerItem: site.world.cache.playerItem(for: site.film))
            let first = try #require(player.currentItem)
            first.setDuration(CMTime(value: 18, timescale: 1))
            first.setStatus(.readyToPlay)
            player.seek(to: CMTime(value: 12, timescale: 1))
            player.play()
            let follower = follower(player, site.world.cache)
            await begin(player, follower)
            let item = try #require(player.currentItem)
            #expect(item !== first && player.currentTime().seconds == 0)
            item.setDuration(CMTime(value: 18, timescale: 1))
            item.setStatus(.readyToPlay)
            if hasSoughtSince { player.seek(to: CMTime(value: 3, timescale: 1)) }
            follower.update()
            let time = hasSoughtSince ? 3.0 : 12
            #expect(player.currentTime().seconds == time && player.rate == 1)
            player.pause()
            // Back on this device the player drops the seek, too.
            let back = try await end(player, follower)
            #expect(player.currentTime().seconds == 0)
            back.setStatus(.readyToPlay)
            follower.update()
            #expect(player.currentTime().seconds == time && player.rate == 0)
        }

        /// As in a queue on some systems.
        @Test func anItemThatIsNeverReadyIsSentAfterAWhileAndThenBroughtBack() async throws {
            let clock = ManualClock()
            try await Site.run(clock: CacheClock(clock) { Date() }) { site in
                try await Self.anItemThatIsNeverReadyIsSentAfterAWhileAndThenBroughtBack(site, clock)
            }
        }

        @MainActor private static func anItemThatIsNeverReadyIsSentAfterAWhileAndThenBroughtBack(
            _ site: Site, _ clock: ManualClock
        ) async throws {
            let player = AVPlayer(playerItem: site.world.cache.playerItem(for: site.film))
            let first = try #require(player.currentItem)
            let follower = follower(player, site.world.cache)
            player.setExternalPlaybackActive(true)
            follower.update()
            let start = clock.now
            await comes {
                clock.advance(by: .milliseconds(100))
                return follower.address != nil
            }
            #expect(start.duration(to: clock.now) >= .seconds(10))
            #expect(player.currentItem !== first)
            await comes {
                clock.advance(by: .milliseconds(100))
                return follower.address == nil
            }
            #expect(start.duration(to: clock.now) >= .seconds(30))
            let last = try #require(player.currentItem)
            #expect(site.world.cache.loadingError(of: last) == nil)
            follower.update()
            #expect(player.currentItem === last, "it is not sent again")
        }

        @Test func aReceiverUsesNoNetworkThatTheItemMayNotUse() async throws {
            try await Site.run { site in try await Self.aReceiverUsesNoNetworkThatTheItemMayNotUse(site) }
        }

        @MainActor private static func aReceiverUsesNoNetworkThatTheItemMayNotUse(_ site: Site) async throws {
            let cache = site.world.cache
            let player = AVPlayer(playerItem: cache.playerItem(for: site.film))
            try #require(player.currentItem).setStatus(.readyToPlay)
            cache.setNetworkPolicy(.never, for: try #require(player.currentItem))
            let follower = follower(player, cache)
            await Self.begin(player, follower)
            let address = try #require(follower.address)
            let offline = try await site.load(address.url).status
            #expect(offline == 504)
            let item = try #require(player.currentItem)
            cache.setNetworkPolicy(.any, for: item)
            let online = try await site.load(address.url).status
            #expect(online == 200)
            item.setStatus(.readyToPlay)
            let last = try await Self.end(player, follower)
            #expect(MediaCache.source(of: last.asset)?.networkPolicy == .any)
        }

        /// An app may still hold the item that was exchanged.
        @Test(arguments: [false, true])
        func theNetworksOfTheItemThatWasSentAreThoseOfTheReceiver(_ isFile: Bool) async throws {
            try await Site.run { site in
                try await Self.theNetworksOfTheItemThatWasSentAreThoseOfTheReceiver(site, isFile: isFile)
            }
        }

        @MainActor private static func theNetworksOfTheItemThatWasSentAreThoseOfTheReceiver(
            _ site: Site, isFile: Bool
        ) async throws {
            let cache = site.world.cache
            var options = PlaybackOptions()
            options.headers = ["Authorization": "Bearer a"]
            let url = try isFile ? site.file : site.film
            let first = cache.playerItem(for: url, options: options)
            first.setStatus(.readyToPlay)
            let player = AVPlayer(playerItem: first)
            let follower = follower(player, cache)
            await Self.begin(player, follower)
            let address = try #require(follower.address)
            cache.setNetworkPolicy(.never, for: first)
            let offline = try await site.load(address.url).status
            #expect(offline == 504)
            cache.setNetworkPolicy(.any, for: first)
            let online = try await site.load(address.url).status
            #expect(online == 200)
            #expect(player.currentItem !== first)
        }

        /// As those of an `AVPlayerLooper` do.
        @Test func itemsThatShareAnAssetShareTheNetworksOfTheReceiver() async throws {
            try await Site.run { site in try await Self.itemsThatShareAnAssetShareTheNetworksOfTheReceiver(site) }
        }

        @MainActor private static func itemsThatShareAnAssetShareTheNetworksOfTheReceiver(_ site: Site) async throws {
            let cache = site.world.cache
            let asset = cache.asset(for: site.film)
            let items = [AVPlayerItem(asset: asset), AVPlayerItem(asset: asset)]
            items[0].setStatus(.readyToPlay)
            let player = AVQueuePlayer(items: items)
            let follower = follower(player, cache)
            await Self.begin(player, follower)
            let item = try #require(player.currentItem)
            cache.setNetworkPolicy(.never, for: item)
            // As `follow(_:ahead:)` asks.
            let preloaded = MediaCache.resource(of: items[1].asset)?.networkPolicy
            #expect(preloaded == .never)
            item.setStatus(.readyToPlay)
            let last = try await Self.end(player, follower)
            #expect(last !== item)
            #expect(MediaCache.source(of: last.asset)?.networkPolicy == .never)
        }

        @Test func aQueueKeepsItsOrder() async throws {
            try await Site.run { site in try await Self.aQueueKeepsItsOrder(site) }
        }

        @MainActor private static func aQueueKeepsItsOrder(_ site: Site) async throws {
            let cache = site.world.cache
            let other = cache.playerItem(for: try site.file)
            let player = AVQueuePlayer(items: [cache.playerItem(for: site.film), other])
            for item in player.items() { item.setStatus(.readyToPlay) }
            let follower = follower(player, cache)
            await Self.begin(player, follower)
            #expect(player.items().count == 2 && player.items().last === other)
            let address = follower.address
            player.advanceToNextItem()
            // The next item is sent, too.
            await Self.comes { follower.address != nil && follower.address !== address }
            #expect(player.items().count == 1 && player.currentItem !== other)
        }

        @Test func theHelperIsOneCall() async throws {
            try await Site.run { site in try await Self.theHelperIsOneCall(site) }
        }

        @MainActor private static func theHelperIsOneCall(_ site: Site) async throws {
            let player = AVPlayer(playerItem: AVPlayerItem(url: URL(fileURLWithPath: "/tmp/a.mp4")))
            let item = player.currentItem
            site.world.cache.followExternalPlayback(of: player)
            player.setExternalPlaybackActive(true)
            await Task.yield()
            #expect(player.currentItem === item, "no cache has made it")
        }
    }
#endif
