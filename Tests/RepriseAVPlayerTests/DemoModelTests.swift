#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import Foundation
    import Reprise
    import RepriseAVPlayer
    import RepriseHTTPClient
    import RepriseTesting
    import RepriseUI
    import TestLimits
    import Testing
    @testable import RepriseDemo

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    extension VirtualClockTests {
        /// The part of the example app that needs no SwiftUI.
        @Suite struct DemoModelTests {
            @Test @MainActor func itPlaysTheLinesAndLeavesNoObserver() async throws {
                try await Self.run { model, _ in
                    let player = model.player
                    player.play("file:///tmp/a.mp3\n  file:///tmp/b.mp3 \n\n")
                    #expect(player.player.items().count == 2)
                    await player.player.passTime()
                    #expect(player.position == 0)
                    player.next()
                    #expect(player.player.items().count == 1)
                    player.close()
                    #expect(player.player.items().isEmpty)
                }
                let raised = Exceptions.take()
                #expect(raised == [])
            }

            @Test @MainActor func itPlaysOnAfterAStallAndNotAfterAPause() async throws {
                try await Self.run { model, _ in
                    let player = model.player
                    player.play("file:///tmp/a.mp3")
                    let item = try #require(player.player.currentItem)
                    player.player.pause()
                    item.setLikelyToKeepUp(true)
                    item.setLikelyToKeepUp(false)
                    player.player.pause()
                    await Self.until { player.isStalled }
                    #expect(player.player.rate == 0)
                    item.setLikelyToKeepUp(true)
                    await Self.until { player.player.rate == 1 }
                    #expect(!player.isStalled)
                    player.player.pause()
                    item.setLikelyToKeepUp(true)
                    await Self.until { !player.isStalled }
                    #expect(player.player.rate == 0)
                    player.close()
                }
            }

            @Test @MainActor func theBarGoesWithTheQueueThatAdvancesByItself() async throws {
                try await Self.run { model, origin in
                    let (player, downloads) = (model.player, model.downloads)
                    await downloads.add(origin.url("/1.mp3"))
                    await Self.until { downloads.downloads.first?.fraction == 1 }
                    player.play("\(origin.url("/0.mp3"))\n\(origin.url("/1.mp3"))")
                    #expect(player.progress.completeLength == nil)
                    player.player.advanceToNextItem()
                    await Self.until { player.progress.completeLength == 5000 }
                    player.next()
                    #expect(player.player.items().isEmpty)
                    #expect(player.progress.completeLength == nil)
                }
            }

            @Test @MainActor func theVisibleClipOfTheFeedPlaysAndTheNextIsStored() async throws {
                try await Self.run { model, origin in
                    let feed = model.feed
                    feed.show(1)
                    let item = feed.player.currentItem
                    #expect((item?.asset as? AVURLAsset)?.url.absoluteString == "reprise+\(origin.url("/1.mp3"))")
                    feed.show(1)
                    #expect(feed.player.currentItem === item, "the same clip goes on")
                    feed.show(7)
                    #expect(feed.visible == 1)
                    await Self.until { origin.snapshot["/2.mp3"].requestCount == 1 }
                    #expect(origin.snapshot["/0.mp3"].requestCount == 0)
                    feed.leave()
                    #expect(feed.player.currentItem == nil)
                }
            }

            @Test @MainActor func aDownloadIsListedUntilItIsRemoved() async throws {
                try await Self.run { model, origin in
                    let downloads = model.downloads
                    await downloads.add("  ")
                    #expect(downloads.message == "This is no URL.")
                    await downloads.add(" \(origin.url("/0.mp3"))\n")
                    #expect(downloads.message == "")
                    await Self.until { downloads.downloads.first?.fraction == 1 }
                    let download = try #require(downloads.downloads.first)
                    await downloads.perform(.remove, on: download)
                    await Self.until { downloads.downloads.isEmpty }
                    #expect(model.savings.hasSuffix("in 1 requests"), "\(model.savings)")
                }
            }

            @Test @MainActor func offlineNothingIsFetchedUntilItIsOnlineAgain() async throws {
                try await Self.run { model, origin in
                    model.isOffline = true
                    model.player.play(origin.url("/list.m3u8"))
                    let early = try #require(model.player.player.currentItem?.asset as? AVURLAsset).url
                    #expect(try await Self.status(of: early) == 504)
                    model.feed.show(0)
                    #expect(origin.snapshot.requestCount == 0)
                    model.isOffline = false
                    #expect(try await Self.status(of: early) == 200, "the item that plays goes on")
                    let segment = early.deletingLastPathComponent().appendingPathComponent("a.ts")
                    #expect(try await Self.status(of: segment) == 200)
                    model.isOffline = true
                    model.player.play(origin.url("/list.m3u8"))
                    let late = try #require(model.player.player.currentItem?.asset as? AVURLAsset).url
                    #expect(try await Self.status(of: late) == 200, "it is stored")
                    #expect(origin.snapshot["/list.m3u8"].requestCount == 1)
                }
            }

            /// Runs `body` with the app's models, and an origin that has their media.
            @MainActor private static func run(
                _ body: @MainActor (DemoModel, TestOrigin) async throws -> Void
            ) async throws {
                let directory = try TemporaryDirectory()
                let origin = try await TestOrigin.start()
                let clips = (0..<3).map { "/\($0).mp3" }
                for path in clips + ["/a.ts"] {
                    origin.set(TestOrigin.Resource(.pattern(seed: 1, length: 5000)), at: path)
                }
                let list =
                    "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:6,\na.ts\n#EXT-X-ENDLIST\n"
                origin.set(
                    TestOrigin.Resource(.bytes(Array(list.utf8)), mediaType: "application/vnd.apple.mpegurl"),
                    at: "/list.m3u8")
                let client = NIOOrigin()
                let cache = try await MediaCache.open(directory: directory.path, origin: client)
                _ = Exceptions.take()
                let model = DemoModel(cache: cache, clips: clips.compactMap { URL(string: origin.url($0)) })
                let result: Result<Void, any Error>
                do { result = .success(try await body(model, origin)) } catch { result = .failure(error) }
                await model.close()
                await client.shutdown()
                await origin.stop()
                directory.remove()
                try result.get()
            }

            /// `eventually` for states of the main actor.
            @MainActor private static func until(_ condition: @MainActor () -> Bool) async {
                while !condition(), !Task.isCancelled { await breathe() }
            }

            private static func status(of url: URL) async throws -> Int? {
                let session = URLSession(configuration: .ephemeral)
                defer { session.invalidateAndCancel() }
                return (try await session.data(from: url).1 as? HTTPURLResponse)?.statusCode
            }
        }
    }
#endif
