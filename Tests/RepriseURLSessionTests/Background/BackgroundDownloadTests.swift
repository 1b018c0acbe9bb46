import Foundation
import Primitives
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The whole way of a download in the background: a real origin, a real store, and a service in the place of the
/// system's that outlives the process.
@Suite("Background downloads", .limit(minutes: 2))
struct BackgroundDownloadTests {
    private static let length: Int64 = 5_000_000

    @Test(arguments: [false, true]) func aDownloadComesInPartsAndOnce(isEncrypted: Bool) async throws {
        let key = try #require(KeyFile.key(hexadecimal: String(repeating: "5a", count: 32)))
        try await AppRun.run(configure: { $0.encryption = isEncrypted ? CacheEncryption(key: key) : nil }) { app in
            app.publish("/film", length: Self.length)
            try await app.launch { cache in
                try await app.download("/film", in: cache)
                await app.expectDone(cache)
                try await app.expectWhole("/film", in: cache)
            }
            await app.expectOnce("/film")
            let requests = app.service.requests
            #expect(
                requests.map { $0.value(forHTTPHeaderField: "Range") } == [
                    "bytes=65536-1114111", "bytes=1114112-2162687", "bytes=2162688-3211263", "bytes=3211264-4259839",
                    "bytes=4259840-4999999",
                ])
            #expect(requests.allSatisfy { $0.value(forHTTPHeaderField: "If-Match") == "\"v1\"" })
            #expect(requests.allSatisfy { $0.value(forHTTPHeaderField: "If-Range") == nil })
            // Only a look came otherwise.
            let first = try #require(app.origin.snapshot["/film"].requests.first)
            #expect(first.range == "bytes=0-65535")
        }
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func whatComesWhileTheAppIsGoneIsStoredByTheNextLaunch(seed: UInt64) async throws {
        try await AppRun.run(seed: seed, tellsTwice: seed.isMultiple(of: 2)) { app in
            try await beginAndLetEnd(in: app)
            let requests = app.origin.snapshot.requestCount
            try await app.launch { cache in
                await app.expectDone(cache)
                try await app.expectWhole("/film", in: cache)
                #expect(await app.transfersWhenSettled(inLaunch: 2) == [0])
            }
            await app.expectOnce("/film")
            #expect(app.origin.snapshot.requestCount == requests)
        }
    }

    @Test("what has come is told after the transfers were listed, when others have begun in its place")
    func whatIsToldLateIsStored() async throws {
        try await AppRun.run(tellsLate: true) { app in
            try await beginAndLetEnd(in: app)
            // What begins now would come no sooner.
            app.service.hold()
            try await app.launch { cache in
                await app.expectDone(cache)
                try await app.expectWhole("/film", in: cache)
            }
            await app.expectOnce("/film")
        }
    }

    @Test func transfersThatStillRunAreJoinedByTheNextLaunch() async throws {
        try await AppRun.run { app in
            app.publish("/film", length: Self.length)
            app.service.hold()
            try await app.launch { cache in
                try await beginTransfers(in: cache, of: app)
            }
            try await app.launch { cache in
                await eventually { if case .running = await cache.download()?.state { true } else { false } }
                app.service.release()
                await app.expectDone(cache)
            }
            #expect(app.service.requests.count == 5)
            await app.expectOnce("/film")
        }
    }

    @Test("a process that is killed between two transfers loses nothing", arguments: 1...4)
    func killsLoseNothing(stored: Int) async throws {
        try await AppRun.run { app in
            app.publish("/film", length: Self.length)
            app.service.hold()
            var next: AppRun?
            try await app.launch { cache in
                try await beginTransfers(in: cache, of: app)
                app.service.release(first: stored)
                await eventually { (await cache.download()?.storedBytes ?? 0) >= 65_536 + Int64(stored) << 20 }
                await eventually { app.arrivedFiles.isEmpty }
                next = try app.killed()
            }
            let again = try #require(next)
            defer { again.directory.remove() }
            again.service.release()
            try await again.launch { cache in
                await again.expectDone(cache)
                try await again.expectWhole("/film", in: cache)
            }
            #expect(app.service.requests.count == 5)
            await again.expectOnce("/film")
        }
    }

    /// Begins a download of the film, whose transfers end while the app is gone.
    private func beginAndLetEnd(in app: AppRun) async throws {
        app.publish("/film", length: Self.length)
        app.service.hold()
        try await app.launch { cache in try await beginTransfers(in: cache, of: app) }
        app.service.release()
        await eventually { app.service.isIdle }
    }

    /// Begins a download of the film, and waits until the system has its transfers.
    private func beginTransfers(in cache: MediaCache, of app: AppRun) async throws {
        try await app.download("/film", in: cache)
        await eventually { app.service.count >= 5 }
    }

    /// A download of which all comes after its process was killed, in a launch that opens no cache: it is only kept.
    private func beginAndLetCome(in app: AppRun) async throws {
        try await beginAndLetEnd(in: app)
        let desk = TransferDesk(folder: app.arrivals)
        app.service.connect(desk)
        await eventually { app.arrivedFiles.count >= 5 }
        app.service.disconnect()
    }

    @Test("a process that is killed before it has stored what came finds it again")
    func whatCameBeforeAKillIsFoundAgain() async throws {
        try await AppRun.run { app in
            try await beginAndLetCome(in: app)
            try await app.launch { cache in await app.expectDone(cache) }
            await app.expectOnce("/film")
        }
    }

    @Test("a process that is killed after it has stored all, and before what came was dropped, leaves nothing for ever")
    func whatWasStoredBeforeAKillIsDropped() async throws {
        try await AppRun.run { app in
            try await beginAndLetCome(in: app)
            let copy = app.arrivals.appendingPathExtension("copy")
            try FileManager.default.copyItem(at: app.arrivals, to: copy)
            try await app.launch { cache in await app.expectDone(cache) }
            try FileManager.default.removeItem(at: app.arrivals)
            try FileManager.default.moveItem(at: copy, to: app.arrivals)
            #expect(app.arrivedFiles.count == 5)
            try await app.launch { cache in await app.expectDone(cache) }
            await app.expectOnce("/film")
        }
    }

    @Test("a file that changes while the app is gone is stored as the new one, and never as a mixture")
    func aChangedFileIsNeverMixed() async throws {
        try await AppRun.run { app in
            app.publish("/film", length: Self.length)
            app.service.hold()
            try await app.launch { cache in
                try await beginTransfers(in: cache, of: app)
                app.service.release(first: 2)
                await eventually { (await cache.download()?.storedBytes ?? 0) >= 2_000_000 }
            }
            app.publish("/film", length: 4_000_000, seed: 2, etag: "\"v2\"")
            app.service.release()
            await eventually { app.service.isIdle }
            try await app.launch { cache in
                await app.expectDone(cache)
                try await app.expectWhole("/film", in: cache, length: 4_000_000, seed: 2)
            }
            // No transfer for the old file has brought the new one.
            let sent = await app.origin.settledSnapshot()["/film"].bodyBytesSent
            #expect(sent < 65_536 + 2 << 20 + 4_100_000)
        }
    }

    @Test("RFC 9110 §13.1.1: an origin that sends parts of the new file in spite of If-Match")
    func anOriginThatIgnoresConditionsIsNotTrusted() async throws {
        try await AppRun.run(dropsConditions: true) { app in
            app.publish("/film", length: Self.length)
            app.service.hold()
            try await app.launch { cache in
                try await beginTransfers(in: cache, of: app)
            }
            app.publish("/film", length: Self.length, seed: 2, etag: "\"v2\"")
            app.service.release()
            await eventually { app.service.isIdle }
            try await app.launch { cache in
                await app.expectDone(cache)
                try await app.expectWhole("/film", in: cache, seed: 2)
            }
        }
    }

    @Test func anOriginWithoutRangesOrValidatorsIsDownloadedAsAWhole() async throws {
        try await AppRun.run { app in
            app.publish("/film", length: Self.length, etag: nil) {
                $0.ignoresRange = true
                $0.acceptRanges = nil
            }
            try await app.launch { cache in
                try await app.download("/film", in: cache)
                await app.expectDone(cache)
                try await app.expectWhole("/film", in: cache)
            }
        }
    }

    @Test func aPlayerDoesNotWaitForATransfer() async throws {
        try await AppRun.run { app in
            app.publish("/film", length: Self.length)
            app.service.hold()
            try await app.launch { cache in
                try await beginTransfers(in: cache, of: app)
                let read = try await cache.resource(for: app.origin.url("/film")).read(.bounded(60_000..<300_000))
                var bytes: [UInt8] = []
                while let more = try await read.nextBytes() { bytes += more }
                #expect(bytes == TestPattern.bytes(in: 60_000..<300_000, seed: 1))
                app.service.release()
                await app.expectDone(cache)
                try await app.expectWhole("/film", in: cache)
            }
        }
    }

    @Test func aPauseEndsTransfersAndARemovalDropsWhatHasCome() async throws {
        try await AppRun.run { app in
            app.publish("/film", length: Self.length)
            app.service.hold()
            try await app.launch { cache in
                let key = try cache.resource(for: app.origin.url("/film")).key
                try await beginTransfers(in: cache, of: app)
                try await cache.downloads.pause(key)
                await eventually { app.service.count == 0 }
                #expect(app.origin.snapshot.requestCount == 1)
                try await cache.downloads.resume(key)
                await eventually { app.service.count >= 5 }
                // Not the first one, so that it lies there.
                app.service.release(last: 1)
                await eventually { app.arrivedFiles.count >= 1 }
                try await cache.downloads.remove(key)
                await eventually { app.service.count == 0 }
                await eventually { app.arrivedFiles.isEmpty }
            }
        }
    }

    @Test func aNewLaunchEndsTheTransfersOfWhatIsNoDownload() async throws {
        try await AppRun.run { app in
            app.publish("/film", length: Self.length)
            app.service.hold()
            try await app.launch { cache in
                try await beginTransfers(in: cache, of: app)
                // The system is not told: the process is gone before.
                app.service.disconnect()
            }
            try FileManager.default.removeItem(atPath: app.store)
            try await app.launch { _ in await eventually { app.service.count == 0 } }
            #expect(app.origin.snapshot.requestCount == 1)
        }
    }

    @Test func aRefusalIsTheDownloadsError() async throws {
        try await AppRun.run { app in
            app.publish("/film", length: Self.length)
            app.service.hold()
            try await app.launch { cache in
                try await beginTransfers(in: cache, of: app)
                app.origin.removeResource(at: "/film")
                app.service.release()
                await eventually { if case .failed = await cache.download()?.state { true } else { false } }
                let error = try #require(await cache.download()?.state.error)
                #expect(error.code == .originRefused)
                #expect(error.refusal?.head.status.code == 404)
                await app.expectNothingIsLeft()
            }
        }
    }

    @Test("a transfer that is refused because its credentials are old by now says nothing of the new ones")
    func newCredentialsAreTriedAfterARefusalOfOldOnes() async throws {
        let (token, asked) = (Mutex("old"), Mutex<[AuthorizationRequest.Reason]>([]))
        try await AppRun.run(configure: {
            $0.authorize = { request in
                asked.withLock { $0.append(request.reason) }
                return Authorization(fields: [.authorization: token.withLock { $0 }])
            }
        }) { app in
            app.publish("/film", length: Self.length) { $0.demandedAuthorization = "old" }
            app.service.hold()
            try await app.launch { cache in
                try await beginTransfers(in: cache, of: app)
            }
            token.withLock { $0 = "new" }
            app.publish("/film", length: Self.length) { $0.demandedAuthorization = "new" }
            try await app.launch { cache in
                await eventually { asked.withLock { $0.count } >= 2 }
                app.service.release()
                await app.expectDone(cache)
                try await app.expectWhole("/film", in: cache)
            }
            #expect(asked.withLock { $0 } == [.downloadStarts, .downloadStarts])
            await app.expectOnce("/film")
        }
    }

    @Test("a refusal of what this process has sent itself asks for other credentials, which are tried")
    func ownRefusalsAskForOtherCredentials() async throws {
        let asked = Mutex<[AuthorizationRequest.Reason]>([])
        try await AppRun.run(configure: {
            $0.authorize = { request in
                let count = asked.withLock { asked in
                    asked.append(request.reason)
                    return asked.count
                }
                return Authorization(fields: [.authorization: count == 1 ? "old" : "new"])
            }
        }) { app in
            app.publish("/film", length: Self.length) { $0.demandedAuthorization = "old" }
            app.service.hold()
            try await app.launch { cache in
                try await beginTransfers(in: cache, of: app)
                app.publish("/film", length: Self.length) { $0.demandedAuthorization = "new" }
                app.service.release()
                await app.expectDone(cache)
                try await app.expectWhole("/film", in: cache)
            }
            #expect(asked.withLock { $0 } == [.downloadStarts, .refused(status: 401)])
        }
    }

    @Test(
        "transfers begin again over the networks that a download may use now, also those of an earlier launch",
        arguments: [false, true])
    func anotherNetworkPolicyEndsTransfers(inNextLaunch: Bool) async throws {
        try await AppRun.run { app in
            app.publish("/film", length: Self.length)
            app.service.hold()
            func restrict(_ cache: MediaCache) async throws {
                var film = try cache.resource(for: app.origin.url("/film"))
                film.networkPolicy = .inexpensive
                try await cache.downloads.add(film)
                await eventually { app.service.requests.count >= 10 && app.service.count == 5 }
                #expect(app.service.requests.count == 10)
                #expect(app.service.count == 5)
            }
            try await app.launch { cache in
                try await app.download("/film", in: cache)
                await eventually { app.service.count >= 5 }
                if !inNextLaunch { try await restrict(cache) }
            }
            try await app.launch { cache in
                if inNextLaunch { try await restrict(cache) }
                // Or it would wait for the networks that it is not confined to any more.
                try await app.download("/film", in: cache)
                await eventually { app.service.requests.count >= 15 && app.service.count == 5 }
                app.service.release()
                await app.expectDone(cache)
            }
            #expect(app.service.requests.count == 15)
            await app.expectOnce("/film")
        }
    }

    @Test func aLostNetworkIsWaitedFor() async throws {
        try await AppRun.run(configure: { $0.retry.attempts = 0 }) { app in
            app.publish("/film", length: Self.length)
            app.service.hold()
            try await app.launch { cache in
                let key = try cache.resource(for: app.origin.url("/film")).key
                try await beginTransfers(in: cache, of: app)
                await eventually {
                    app.service.failAll(.notConnectedToInternet)
                    return if case .waiting(.network, _) = await cache.download()?.state { true } else { false }
                }
                app.service.release()
                try await cache.downloads.resume(key)
                await app.expectDone(cache)
            }
            await app.expectOnce("/film")
        }
    }

    @Test("the app is not suspended before transfers that the system has given up have begun again")
    func givenUpTransfersBeginAgainBeforeTheAppIsSuspended() async throws {
        try await AppRun.run { app in
            app.publish("/film", length: Self.length)
            app.service.hold()
            try await app.launch { cache in
                try await app.download("/film", in: cache)
                await eventually { app.service.count >= 5 }
            }
            app.service.failAll(.timedOut)
            try await app.launch { cache in
                #expect(await app.transfersWhenSettled(inLaunch: 2) == [5])
                app.service.release()
                await app.expectDone(cache)
            }
            await app.expectOnce("/film")
        }
    }

    @Test func manyDownloadsAreTransferredTogether() async throws {
        try await AppRun.run { app in
            app.service.hold()
            let paths = (0..<12).map { "/episode\($0)" }
            for (number, path) in paths.enumerated() { app.publish(path, length: 700_000, seed: UInt64(number)) }
            try await app.launch { cache in
                for path in paths { try await app.download(path, in: cache) }
                await eventually { app.service.count >= paths.count }
            }
            app.service.release()
            await eventually { app.service.isIdle }
            try await app.launch { cache in
                await app.expectDone(cache)
                for (number, path) in paths.enumerated() {
                    try await app.expectWhole(path, in: cache, length: 700_000, seed: UInt64(number))
                }
            }
            for path in paths { await app.expectOnce(path, length: 700_000) }
        }
    }

    private static let films = (0..<6).map { "/film\($0)" }
    private static let filmLength: Int64 = 1_000_000

    /// Downloads six films at once of which three fit; what runs then holds still.
    private func downloadMoreThanFits(in app: AppRun, _ cache: MediaCache) async throws {
        app.service.hold()
        for (number, path) in Self.films.enumerated() {
            app.publish(path, length: Self.filmLength, seed: UInt64(number))
        }
        for path in Self.films { try await app.download(path, in: cache) }
        await eventually { await states(in: cache).waiting == 3 && app.service.count >= 3 }
    }

    private func states(in cache: MediaCache) async -> (waiting: Int, done: Int) {
        let states = await cache.downloads.list().map(\.state)
        return (
            states.count { if case .waiting(.space, _) = $0 { true } else { false } },
            states.count { if case .done = $0 { true } else { false } }
        )
    }

    @Test("downloads that do not fit beside those under way wait for room, and are not transferred in vain")
    func whatDoesNotFitTogetherIsNotBegun() async throws {
        try await AppRun.run(configure: { $0.limit = 3_500_000 }) { app in
            try await app.launch { cache in
                try await downloadMoreThanFits(in: app, cache)
                #expect(app.service.count == 3)
                let errors = await cache.downloads.list().compactMap(\.state.error)
                #expect(errors.map(\.code) == [.storageFull, .storageFull, .storageFull])
                #expect(errors.first?.message.contains("downloads that are under way") == true)
            }
            // Those under way keep their room in the next launch.
            try await app.launch { cache in
                await eventually { await states(in: cache).waiting == 3 }
                app.service.release()
                await eventually { await states(in: cache) == (3, 3) }
                #expect(app.service.requests.count == 3)
                try await cache.setLimit(10_000_000)
                await app.expectDone(cache)
                for (number, path) in Self.films.enumerated() {
                    try await app.expectWhole(path, in: cache, length: Self.filmLength, seed: UInt64(number))
                }
            }
            for path in Self.films { await app.expectOnce(path, length: Self.filmLength) }
        }
    }

    @Test("one that waits for room begins when another one is paused")
    func theRoomOfAPausedDownloadIsUsed() async throws {
        try await AppRun.run(configure: { $0.limit = 3_500_000 }) { app in
            try await app.launch { cache in
                try await downloadMoreThanFits(in: app, cache)
                let running = try #require(
                    await cache.downloads.list().first { if case .running = $0.state { true } else { false } })
                try await cache.downloads.pause(running.key)
                await eventually { await states(in: cache).waiting == 2 && app.service.requests.count >= 4 }
                #expect(app.service.count == 3)
            }
        }
    }

    @Test("the limit of a tag holds for downloads that begin together")
    func theLimitOfATagHoldsForAllTogether() async throws {
        try await AppRun.run { app in
            try await app.launch { cache in
                for path in Self.films {
                    let film = try cache.resource(for: app.origin.url(path))
                    try await cache.nameTitle(of: film, name: nil, tag: "kids")
                }
                try await cache.setLimit(3_500_000, forTag: "kids")
                try await downloadMoreThanFits(in: app, cache)
                #expect(app.service.count == 3)
            }
        }
    }

    @Test("launches, changes and reads in any order", arguments: 1...12 as ClosedRange<UInt64>)
    func nothingIsMixedWhateverHappens(seed: UInt64) async throws {
        try await AppRun.run(seed: seed, tellsTwice: seed.isMultiple(of: 3), largestTransfer: 300_000) { app in
            var generator = SeededGenerator(seed: seed)
            var version: UInt64 = 1
            func publish() { app.publish("/film", length: 2_000_000, seed: version, etag: "\"v\(version)\"") }
            publish()
            app.service.hold()
            for round in 0..<6 {
                try await app.launch { cache in
                    if round == 0 { try await app.download("/film", in: cache) }
                    app.service.release(first: Int.random(in: 0...4, using: &generator))
                    for _ in 0..<Int.random(in: 0...40, using: &generator) { await breathe() }
                    if Int.random(in: 0..<3, using: &generator) == 0 {
                        let start = Int64.random(in: 0..<1_900_000, using: &generator)
                        // Ends where the file has changed.
                        let read = try? await cache.resource(for: app.origin.url("/film"))
                            .read(.bounded(start..<start + 50_000))
                        while await (try? read?.next()) != nil {}
                    }
                }
                if Int.random(in: 0..<3, using: &generator) == 0 {
                    version += 1
                    publish()
                }
                app.service.release(first: Int.random(in: 0...3, using: &generator))
            }
            app.service.release()
            try await app.launch { cache in
                await app.expectDone(cache)
                let stored = try await cache.storedBytes(of: app.origin.url("/film"))
                let versions = (1...version).filter { TestPattern.bytes(in: 0..<2_000_000, seed: $0) == stored }
                #expect(versions.count == 1, "a mixture, seed \(seed)")
            }
        }
    }
}
