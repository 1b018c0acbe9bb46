import Foundation
import HTTPTypes
import Primitives
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What happens to downloads of an app in the background for hours, on real servers.
@Suite("Background downloads whose users, servers and disks are not kind", .limit(minutes: 2))
struct UnkindBackgroundTests {
    private static let length = AppRun.filmLength
    /// Two transfers behind the first 64 KiB.
    private static let shortLength: Int64 = 1_500_000

    private func waitsForRoom(_ state: Download.State?) -> Bool {
        if case .waiting(.space, _) = state { true } else { false }
    }

    private func hasAll(_ state: Download.State?) -> Bool { if case .done = state { true } else { false } }

    private func isEnded(_ state: Download.State?) -> Bool {
        switch state {
        case .done, .failed, .waiting: true
        case .queued, .running, .paused, nil: false
        }
    }

    /// Whether the download is done when it does not run any more.
    private func isDoneInTheEnd(_ cache: MediaCache, _ path: String? = nil) async -> Bool {
        await eventually { isEnded(await cache.download(path)?.state) }
        return hasAll(await cache.download(path)?.state)
    }

    /// Begins a download of the film, and waits until the system has its transfers, which are held.
    private func begin(_ count: Int, in cache: MediaCache, of app: AppRun) async throws {
        try await app.download("/film", in: cache)
        await eventually { app.service.count >= count }
    }

    // A transfer may last for hours: in that time a podcast with a wrong title is uploaded again, and again.
    @Test("a file that changes again while the changed one is transferred is downloaded as the newest one")
    func aFileMayChangeTwiceInOneRun() async throws {
        try await AppRun.run { app in
            app.publish("/film", length: Self.shortLength)
            app.service.hold()
            try await app.launch { cache in
                try await begin(2, in: cache, of: app)
                app.publish("/film", length: Self.shortLength, seed: 2, etag: "\"v2\"")
                app.service.release(first: 2)
                await eventually {
                    let state = await cache.download()?.state
                    return app.service.requests.count >= 3 || isEnded(state)
                }
                app.publish("/film", length: Self.shortLength, seed: 3, etag: "\"v3\"")
                app.service.release()
                let isDone = await isDoneInTheEnd(cache)
                let error = await cache.download()?.state.error
                #expect(isDone, "\(String(describing: error))")
                if isDone {
                    try await app.expectWhole("/film", in: cache, length: Self.shortLength, seed: 3)
                }
            }
        }
    }

    // The app has a new token and adds the download again with it, as the documents say; the old one expires.
    @Test("a download that is added again with a new token while it runs uses it when the old one is refused")
    func newFieldsOfARunningDownloadAreTried() async throws {
        try await AppRun.run { app in
            app.publish("/film", length: Self.shortLength) { $0.demandedAuthorization = "old" }
            app.service.hold()
            try await app.launch { cache in
                let url = app.origin.url("/film")
                try await cache.downloads.add(try cache.resource(for: url, fields: [.authorization: "old"]))
                await eventually { app.service.count >= 2 }
                app.publish("/film", length: Self.shortLength) { $0.demandedAuthorization = "new" }
                try await cache.downloads.add(try cache.resource(for: url, fields: [.authorization: "new"]))
                app.service.release()
                let isDone = await isDoneInTheEnd(cache)
                let error = await cache.download()?.state.error
                #expect(isDone, "\(String(describing: error))")
            }
        }
    }

    // A switch "only over Wi-Fi" is turned on and off while parts arrive.
    @Test("what has come stays when the network policy changes to and fro")
    func thePolicyChangesToAndFro() async throws {
        try await AppRun.run { app in
            app.publish("/film", length: Self.length)
            app.service.hold()
            try await app.launch { cache in
                try await begin(5, in: cache, of: app)
                app.service.release(last: 2)
                await eventually { app.arrivedFiles.count >= 2 }
                var film = try cache.resource(for: app.origin.url("/film"))
                film.networkPolicy = .inexpensive
                try await cache.downloads.add(film)
                await eventually { app.service.requests.count >= 8 }
                try await app.download("/film", in: cache)
                await eventually { app.service.requests.count >= 11 }
                app.service.release()
                let isDone = await isDoneInTheEnd(cache)
                #expect(isDone)
                try await app.expectWhole("/film", in: cache)
            }
            let count = app.service.requests.count
            #expect(count == 11)
            let counters = await app.origin.settledSnapshot()["/film"]
            #expect(counters.bytesSentMoreThanOnce == 0)
        }
    }

    // A person plays with the setting of the hours while parts arrive.
    @Test("hours that close and open at once end transfers, keep what has come, and leave the download running")
    func theHoursCloseAndOpenAtOnce() async throws {
        let hour = Int(Date().timeIntervalSince1970 / 3600) % 24
        var closed = try DailyWindow(
            start: .seconds((hour + 2) % 24 * 3600), end: .seconds((hour + 3) % 24 * 3600))
        closed.timeZone = TimeZone(secondsFromGMT: 0)
        let window = closed
        try await AppRun.run { app in
            app.publish("/film", length: Self.length)
            app.service.hold()
            try await app.launch { cache in
                try await begin(5, in: cache, of: app)
                app.service.release(last: 2)
                await eventually { app.arrivedFiles.count >= 2 }
                cache.downloads.window = window
                await eventually { app.service.count == 0 }
                let kept = app.arrivedFiles.count
                #expect(kept == 2)
                cache.downloads.window = nil
                cache.downloads.window = window
                cache.downloads.window = nil
                await eventually { app.service.requests.count >= 8 && app.service.count >= 3 }
                app.service.release()
                let isDone = await isDoneInTheEnd(cache)
                #expect(isDone)
                try await app.expectWhole("/film", in: cache)
            }
            let counters = await app.origin.settledSnapshot()["/film"]
            #expect(counters.bytesSentMoreThanOnce == 0)
        }
    }

    // A backup is restored: by If-Unmodified-Since nothing has changed, and only Last-Modified tells.
    @Test("a file that is replaced by an older one, on a server without entity tags, is not mixed with it")
    func anOlderFileIsAnotherOne() async throws {
        try await AppRun.run { app in
            func publish(seed: UInt64, modified: String) {
                app.origin.set(
                    TestOrigin.Resource(
                        .pattern(seed: seed, length: Self.length), mediaType: "video/mp4", etag: nil,
                        lastModified: modified), at: "/film")
            }
            publish(seed: 1, modified: "Wed, 01 Jan 2025 00:00:00 GMT")
            app.service.hold()
            try await app.launch { cache in try await begin(5, in: cache, of: app) }
            let dates = app.service.requests.map { $0.value(forHTTPHeaderField: "If-Unmodified-Since") }
            let expected: [String?] = Array(repeating: "Wed, 01 Jan 2025 00:00:00 GMT", count: 5)
            let areConditional = dates == expected
            #expect(areConditional)
            publish(seed: 2, modified: "Mon, 01 Jan 2024 00:00:00 GMT")
            app.service.release()
            await eventually { app.service.isIdle }
            try await app.launch { cache in
                let isDone = await isDoneInTheEnd(cache)
                #expect(isDone)
                try await app.expectWhole("/film", in: cache, length: Self.length, seed: 2)
            }
        }
    }

    // A gateway drops If-Match, and the new file ends before all that is missing of the old one: each answer is 416.
    @Test("RFC 9110 §15.5.17: a file that is shorter by now than the stored bytes of the old one is downloaded")
    func aMuchShorterFileIsAnotherOne() async throws {
        try await AppRun.run(dropsConditions: true) { app in
            app.publish("/film", length: Self.shortLength)
            app.service.hold()
            try await app.launch { cache in try await begin(2, in: cache, of: app) }
            app.publish("/film", length: 50_000, seed: 2, etag: "\"v2\"")
            app.service.release()
            await eventually { app.service.isIdle }
            try await app.launch { cache in
                let isDone = await isDoneInTheEnd(cache)
                let error = await cache.download()?.state.error
                #expect(isDone, "\(String(describing: error))")
                if isDone { try await app.expectWhole("/film", in: cache, length: 50_000, seed: 2) }
            }
        }
    }

    // The server was replaced while the app was gone: the new one knows neither If-Match nor ranges.
    @Test("each transfer for a part brings the whole of another file")
    func anOriginThatDropsConditionsAndRangesIsDownloaded() async throws {
        try await AppRun.run(dropsConditions: true) { app in
            app.publish("/film", length: Self.shortLength)
            app.service.hold()
            try await app.launch { cache in try await begin(2, in: cache, of: app) }
            app.publish("/film", length: Self.shortLength, seed: 2, etag: "\"v2\"") {
                $0.ignoresRange = true
                $0.acceptRanges = nil
            }
            app.service.release()
            await eventually { app.service.isIdle }
            try await app.launch { cache in
                let isDone = await isDoneInTheEnd(cache)
                let error = await cache.download()?.state.error
                #expect(isDone, "\(String(describing: error))")
                if isDone {
                    try await app.expectWhole("/film", in: cache, length: Self.shortLength, seed: 2)
                }
                await app.expectNothingIsLeft()
            }
        }
    }

    // The disk fills while the last parts have come and the first ones have not.
    @Test("a full disk, then room: what has come before is not fetched again")
    func roomAfterAFullDiskIsUsed() async throws {
        try await AppRun.run(configure: { $0.retry.attempts = 0 }) { app in
            app.publish("/film", length: Self.length)
            app.service.hold()
            try await app.launch { cache in
                try await begin(5, in: cache, of: app)
                app.service.release(last: 2)
                await eventually { app.arrivedFiles.count >= 2 }
                // A transfer that fails while the download looks at what has arrived is begun again, on the same disk.
                await eventually {
                    app.service.failAll(.cannotWriteToFile)
                    return isEnded(await cache.download()?.state)
                }
                let state = await cache.download()?.state
                let isLackOfRoom = waitsForRoom(state)
                #expect(isLackOfRoom)
                let kept = app.arrivedFiles.count
                #expect(kept == 2)
                app.service.release()
                try await cache.setLimit(100_000_000)
                await cache.downloadsAreDone()
                try await app.expectWhole("/film", in: cache)
                await app.expectNothingIsLeft()
            }
            let counters = await app.origin.settledSnapshot()["/film"]
            #expect(counters.bytesSentMoreThanOnce == 0)
        }
    }

    // A queue of episodes is longer than what is transferred at once, and the app is gone in the meantime.
    @Test("the downloads behind the first 64 follow when those are stored")
    func downloadsBeyondThoseThatRunFollow() async throws {
        try await AppRun.run { app in
            app.service.hold()
            let paths = (0..<67).map { "/episode\($0)" }
            for (number, path) in paths.enumerated() { app.publish(path, length: 100_000, seed: UInt64(number)) }
            try await app.launch { cache in
                for path in paths { try await app.download(path, in: cache) }
                await eventually { app.service.count >= 64 }
            }
            let begun = app.service.requests.count
            #expect(begun == 64)
            app.service.release()
            await eventually { app.service.isIdle }
            try await app.launch { cache in
                await cache.downloadsAreDone()
                for number in [0, 63, 64, 66] {
                    try await app.expectWhole(
                        paths[number], in: cache, length: 100_000, seed: UInt64(number))
                }
            }
            let requests = app.service.requests.count
            #expect(requests == 67)
            let twice = await app.origin.settledSnapshot().bytesSentMoreThanOnce
            #expect(twice == 0)
        }
    }

    // MARK: - Streams

    /// Streams whose playlists are lists of URLs, one a line.
    private struct ListPlanner: StreamPlanner {
        var largestPlaylist: Int64 { 1 << 16 }

        private func isList(_ url: ResourceURL) -> Bool { url.description.hasSuffix(".list") }

        func mayBePlaylist(_ information: ContentInformation, at url: ResourceURL) -> Bool { isList(url) }

        func isDeclaredStream(_ information: ContentInformation?, at url: ResourceURL) -> Bool { isList(url) }

        func beginsPlaylist(_ bytes: [UInt8]) -> Bool { false }

        func namesNothing(_ bytes: [UInt8]) -> Bool { false }

        func objection(
            to information: ContentInformation?, beginning bytes: [UInt8]?, at url: ResourceURL
        ) -> RepriseError? { nil }

        func files(
            of first: StreamDocument, selection: StreamSelection,
            load: (ResourceURL) async throws -> StreamDocument
        ) async throws -> [StreamFile]? {
            let lines = String(decoding: first.bytes, as: UTF8.self).split(separator: "\n")
            return try lines.map { StreamFile(url: try ResourceURL(String($0))) }
        }

        func names(
            in first: StreamDocument, stored: (ResourceURL) throws -> StreamDocument?
        ) throws -> Set<ResourceURL>? { nil }

        func storedFiles(
            aroundTitles keys: [CacheKey], in inspector: CacheInspector, policy: CacheKeyPolicy
        ) throws -> [TitleReference: Set<CacheKey>] { [:] }

        func isComplete(_ title: Title, in inspector: CacheInspector, policy: CacheKeyPolicy) throws -> Bool { false }

        func storedStream(
            _ title: Title, in inspector: CacheInspector, policy: CacheKeyPolicy
        ) throws -> StoredStream? { nil }

        func beginning(
            of first: StreamDocument, amount: PreloadAmount, load: (ResourceURL) async throws -> StreamDocument
        ) async throws -> [StreamPart]? { nil }
    }

    private func publish(_ segments: [String], as path: String, of app: AppRun) {
        let text = segments.map { app.origin.url($0) + "\n" }.joined()
        app.origin.set(TestOrigin.Resource(.bytes(Array(text.utf8)), mediaType: "video/mp4"), at: path)
    }

    // Two cuts of a film share the opening; the one that has begun its transfer is paused, and the other waits for it.
    @Test("a stream goes on with a segment whose transfer belonged to another one that is paused")
    func aPauseDoesNotEndTheTransfersOfAnotherStream() async throws {
        try await AppRun.run(configure: { $0.streamPlanner = ListPlanner() }) { app in
            app.publish("/shared.ts", length: 300_000)
            app.publish("/own.ts", length: 300_000, seed: 2)
            publish(["/shared.ts"], as: "/a.list", of: app)
            publish(["/shared.ts", "/own.ts"], as: "/b.list", of: app)
            app.service.hold()
            try await app.launch { cache in
                try await app.download("/a.list", in: cache)
                await eventually { app.service.count >= 1 }
                try await app.download("/b.list", in: cache)
                await eventually { app.service.count >= 2 }
                try await cache.downloads.pause(try cache.resource(for: app.origin.url("/a.list")).key)
                app.service.release()
                let isDone = await isDoneInTheEnd(cache, "/b.list")
                let error = await cache.download("/b.list")?.state.error
                #expect(isDone, "\(String(describing: error))")
                if isDone {
                    try await app.expectWhole("/shared.ts", in: cache, length: 300_000, seed: 1)
                    try await app.expectWhole("/own.ts", in: cache, length: 300_000, seed: 2)
                }
                await app.expectNothingIsLeft()
            }
        }
    }

    // Packagers leave empty segments, such as of subtitles where no word is said.
    @Test("an empty segment with a validator is stored, and does not lie among what has come until all is done")
    func anEmptySegmentIsStored() async throws {
        try await AppRun.run(configure: { $0.streamPlanner = ListPlanner() }) { app in
            app.publish("/one.ts", length: 300_000)
            app.publish("/empty.ts", length: 0)
            app.publish("/late.ts", length: 300_000, seed: 2)
            app.origin.holdHeads("/late.ts")
            publish(["/one.ts", "/empty.ts", "/late.ts"], as: "/film.list", of: app)
            try await app.launch { cache in
                try await app.download("/film.list", in: cache)
                await eventually {
                    let download = await cache.download()
                    return download?.files?.stored ?? 0 >= 3 || isEnded(download?.state)
                }
                let stored = await cache.download()?.files?.stored
                #expect(stored == 3)
                await eventually { app.arrivedFiles.isEmpty }
                app.origin.release("/late.ts")
                let isDone = await isDoneInTheEnd(cache)
                #expect(isDone)
                await app.expectNothingIsLeft()
            }
        }
    }
}
