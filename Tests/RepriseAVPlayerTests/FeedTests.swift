#if canImport(AVFoundation)
    import AVFoundation
    import Foundation
    import Reprise
    import RepriseTesting
    import TestLimits
    import Testing
    @testable import RepriseAVPlayer

    /// What is preloaded of a feed and of a queue; the origin answers nothing, so that the list stays as it was set.
    @Suite(.alsoLate, .limit(minutes: 2)) struct FeedTests {
        private static func withCache(_ body: (MediaCache) async throws -> Void) async throws {
            let directory = try TemporaryDirectory()
            let cache = try await MediaCache.open(directory: directory.path, origin: UnreachableOrigin())
            let result: Result<Void, any Error>
            do { result = .success(try await body(cache)) } catch { result = .failure(error) }
            await cache.close()
            directory.remove()
            try result.get()
        }

        private static func urls(_ names: [String]) throws -> [URL] {
            try names.map { try #require(URL(string: $0.contains(":") ? $0 : "https://example.com/\($0)")) }
        }

        private static func list(_ cache: MediaCache) -> [String] {
            cache.preloads.list.map { "\($0.url.lastPathComponent) \($0.amount)" }
        }

        @Test func aFeedIsPreloadedByItsDistanceFromTheCurrentClip() async throws {
            try await Self.withCache { cache in
                let clips = try Self.urls((0..<9).map { "\($0).mp4" })
                cache.preload(clips, current: 2)
                #expect(
                    Self.list(cache) == [
                        "3.mp4 seconds(10.0)", "4.mp4 seconds(5.0)", "5.mp4 seconds(3.0)", "6.mp4 seconds(3.0)",
                        "7.mp4 seconds(3.0)",
                    ])
                cache.preload(clips, current: 7)
                #expect(Self.list(cache) == ["8.mp4 seconds(10.0)"])
                cache.preload([])
                #expect(Self.list(cache) == [])
            }
        }

        @Test func theItemsOptionsSayWhichEntriesAreFilled() async throws {
            try await Self.withCache { cache in
                var options = PlaybackOptions()
                options.partition = "anna"
                let clips = try Self.urls(["file:///a.mp4", "b.mp4", "https://me:secret@example.com/c.mp4"])
                cache.preload(clips, options: options) { _ in .bytes(1000) }
                #expect(cache.preloads.list.map(\.key.partition) == ["anna"])
                #expect(Self.list(cache) == ["b.mp4 bytes(1000)"], "what is not cached is skipped")
                options.headers = ["A name": "x"]
                cache.preload(clips, options: options)
                #expect(Self.list(cache) == [])
            }
        }

        @Test func streamsAreAmongThem() async throws {
            try await Self.withCache { cache in
                cache.preload(try Self.urls(["a.m3u8", "b.mp4"]))
                #expect(cache.preloads.list.map(\.url.lastPathComponent) == ["a.m3u8", "b.mp4"])
            }
        }

        @Test func theNextItemsOfAQueueArePreloaded() async throws {
            try await Self.withCache { cache in
                let names = ["a.mp3", "b.m3u8", "c.mp3", "d.mp3", "e.mp3"]
                let player = try await Self.player(names, cache)
                await MainActor.run { cache.follow(player, ahead: 3) }
                #expect(
                    Self.list(cache) == ["b.m3u8 seconds(10.0)", "c.mp3 seconds(5.0)", "d.mp3 seconds(3.0)"])
                await MainActor.run { player.advanceToNextItem() }
                await eventually { cache.preloads.list.first?.url.lastPathComponent == "c.mp3" }
                #expect(cache.preloads.list.map(\.url.lastPathComponent) == ["c.mp3", "d.mp3", "e.mp3"])
                await MainActor.run {
                    cache.follow(player, ahead: 0)
                    player.removeAllItems()
                }
                await eventually { cache.preloads.list.isEmpty }
            }
        }

        @Test func theListOfAQueueGoesWithItsPlayer() async throws {
            try await Self.withCache { cache in
                try await Self.followForAMoment(cache) {}
                await eventually { cache.preloads.list.isEmpty }
                let own = try Self.urls(["x.mp4"])
                try await Self.followForAMoment(cache) { cache.preload(own) }
                #expect(Self.list(cache) == ["x.mp4 seconds(10.0)"], "it is the app's, and stays")
            }
        }

        /// Follows a player that is gone afterwards.
        @MainActor private static func followForAMoment(_ cache: MediaCache, _ body: @Sendable () -> Void) throws {
            let player = try Self.player(["a.mp3", "b.mp3"], cache)
            cache.follow(player, ahead: 3)
            cache.follow(player, ahead: 3)
            #expect(list(cache) == ["b.mp3 seconds(10.0)"], "that of the first follower does not end the second's")
            body()
        }

        @MainActor private static func player(_ names: [String], _ cache: MediaCache) throws -> AVQueuePlayer {
            AVQueuePlayer(items: try urls(names).map { cache.playerItem(for: $0) })
        }
    }

    /// An origin that answers nothing until the request is canceled.
    private struct UnreachableOrigin: Origin {
        func send(_ request: OriginRequest) async throws -> OriginResponse {
            let (silence, continuation) = AsyncStream.makeStream(of: Never.self)
            for await _ in silence {}
            continuation.finish()
            throw CancellationError()
        }
    }
#endif
