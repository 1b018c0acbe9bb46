#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import Foundation
    import Reprise
    import RepriseAVPlayer
    import RepriseTesting
    import Testing
    @testable import RepriseDemo

    extension VirtualClockTests {
        /// The part of the example app that needs no SwiftUI.
        @Suite struct DemoModelTests {
            @Test @MainActor func itPlaysTheLinesAndLeavesNoObserver() async throws {
                let directory = try TemporaryDirectory()
                let cache = await MediaCache.forPlayback(directory: URL(fileURLWithPath: directory.path))
                _ = Exceptions.take()
                do {
                    let model = PlayerModel(cache: cache)
                    model.play("file:///tmp/a.mp3\n  file:///tmp/b.mp3 \n\n")
                    #expect(model.player.items().count == 2)
                    await model.player.passTime()
                    #expect(model.position == 0)
                    model.next()
                    #expect(model.player.items().count == 1)
                    model.close()
                    #expect(model.player.items().isEmpty)
                }
                #expect(Exceptions.take() == [])
                await cache.close()
            }
        }
    }
#endif
