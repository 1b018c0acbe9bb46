import ByteRanges
import Foundation
import HTTPTypes
import Primitives
import RepriseStreams
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Downloads of streams under faults of the origin, the disk, the limit and the clock: each ends in a state that says
/// what happened, no stored byte is lost, and none is fetched again.
@Suite("Faults of streams' downloads", .limit(minutes: 2)) struct StreamDownloadFaultTests {
    private static let length: Int64 = 90_000
    private static let high = "#EXT-X-STREAM-INF:BANDWIDTH=2000000,RESOLUTION=1280x720\nhigh.m3u8\n"
    private static let low = "#EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360\nlow.m3u8\n"
    private static let lists = ["/master.m3u8", "/high.m3u8"]
    private static let segments = (1...4).map { "/high\($0).ts" }

    private static func publish(
        _ text: String, at path: String, _ bench: Bench, status: Int? = nil, control: String = "max-age=86400",
        hasValidator: Bool = true
    ) {
        bench.origin.set(
            TestOrigin.Resource(
                .bytes(Array(text.utf8)), mediaType: "application/vnd.apple.mpegurl",
                etag: hasValidator ? "\"\(text.hashValue)\"" : nil,
                lastModified: hasValidator ? "Wed, 01 Jan 2025 00:00:00 GMT" : nil,
                fields: [.cacheControl: control], personality: TestOrigin.Personality { $0.status = status }),
            at: path)
    }

    private static func list(_ segments: [String]) -> String {
        let lines = segments.map { "#EXTINF:4,\n\($0)\n" }.joined()
        return "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-KEY:METHOD=AES-128,URI=\"key\"\n\(lines)#EXT-X-ENDLIST\n"
    }

    private static func publishKey(_ bench: Bench, status: Int? = nil) {
        bench.origin.set(
            TestOrigin.Resource(
                .bytes(Array(repeating: 7, count: 16)), mediaType: "application/octet-stream",
                personality: TestOrigin.Personality { $0.status = status }), at: "/key")
    }

    /// A stream of two variants of four segments each, and a key.
    private static func run(
        configure: (inout MediaCache.Configuration) -> Void = { _ in },
        _ body: (Bench, MediaResource) async throws -> Void
    ) async throws {
        try await Bench.run(configure: {
            $0.downloadsStreams = true
            configure(&$0)
        }) { bench async throws in
            publish("#EXTM3U\n\(high)\(low)", at: "/master.m3u8", bench)
            for name in ["high", "low"] {
                publish(list((1...4).map { "\(name)\($0).ts" }), at: "/\(name).m3u8", bench)
                for number in 1...4 {
                    bench.publish("/\(name)\(number).ts", length: length, seed: UInt64(number), type: "video/mp2t")
                }
            }
            publishKey(bench)
            try await body(bench, try bench.cache.resource(for: bench.origin.url("/master.m3u8")))
        }
    }

    @Test("what is on its way while a stream is removed goes with it", arguments: [false, true])
    func removedUnderWay(asDownload: Bool) async throws {
        try await Self.run { bench, resource async throws in
            for path in Self.segments[2...] { bench.origin.hold(path, at: 50_000) }
            try await bench.cache.downloads.add(resource)
            await bench.origin.waitUntil { counters in
                Self.segments[2...].allSatisfy { counters[$0].bodyBytesSent >= 50_000 }
            }
            if asDownload {
                try await bench.cache.downloads.remove(resource.key)
            } else {
                try await bench.cache.removeTitle(resource.key)
            }
            for path in Self.segments[2...] { bench.origin.release(path) }
            await bench.cache.becomeIdle()
            let left = try await bench.cache.entries().map(\.url.target)
            #expect(left.isEmpty, "\(left)")
            #expect(await bench.cache.downloads.list().isEmpty)
        }
    }

    @Test("a file that comes just before the removal of its stream is recorded goes with it")
    func adoptedUnderWay() async throws {
        let hook = Mutex<(@Sendable (CrashPoint) -> Void)?>(nil)
        try await Self.run(configure: { $0.reached = { point in hook.withLock { $0 }?(point) } }) {
            bench, resource async throws in
            bench.origin.holdHeads("/high4.ts")
            try await bench.cache.downloads.add(resource)
            await eventually {
                let stored = (try? await Self.names(bench.cache)) ?? []
                return stored.isSuperset(of: Self.lists + ["/key"] + Self.segments[..<3])
                    && bench.origin.snapshot["/high4.ts"].requestCount == 1
            }
            let key = try bench.cache.resource(for: bench.origin.url("/high4.ts")).key
            let recorder = try #require(bench.cache.engine.store?.recorder)
            let (batches, mayGoOn) = (Mutex(0), DispatchSemaphore(value: 0))
            // The first batch comes before the removal, and the second one with it.
            hook.withLock {
                $0 = { point in
                    if point == .recorded, batches.withLock({ $0 }) == 1 { recorder.noteInvalidation(of: key) }
                    guard point == .recording else { return }
                    let number = batches.withLock { batches in
                        batches += 1
                        return batches
                    }
                    if number == 2 { mayGoOn.wait() }
                }
            }
            recorder.noteInvalidation(of: key)
            async let isRemoved: Int64 = bench.cache.downloads.remove(resource.key)
            await eventually { batches.withLock { $0 } >= 2 }
            bench.origin.release("/high4.ts")
            await eventually { bench.cache.engine.liveResource(key)?.liveGeneration != nil }
            mayGoOn.signal()
            _ = try await isRemoved
            await bench.cache.becomeIdle()
            let left = try await bench.cache.entries().map(\.url.target)
            #expect(left.isEmpty, "\(left)")
        }
    }

    /// Downloads until the third and the fourth segment have stopped midway, and closes the cache.
    private static func breakOff(
        _ bench: Bench, _ resource: MediaResource, lists: [String] = lists
    ) async throws {
        for path in segments[2...] { bench.origin.hold(path, at: 50_000) }
        try await bench.cache.downloads.add(resource)
        await bench.origin.waitUntil { counters in segments[2...].allSatisfy { counters[$0].bodyBytesSent >= 50_000 } }
        await eventually { (try? await names(bench.cache))?.isSuperset(of: lists + ["/key"] + segments[..<2]) == true }
        await bench.cache.close()
        for path in segments[2...] { bench.origin.release(path) }
    }

    /// Resumes the download until it is done; refusals and want of room are remembered for a while.
    private static func complete(_ bench: Bench, _ resource: MediaResource, _ clock: ShiftableClock) async {
        await eventually {
            guard let download = await bench.cache.downloads.list().first else { return false }
            if passTime(for: download, clock) { try? await bench.cache.downloads.resume(resource.key) }
            return download.isDone
        }
    }

    /// Half a minute passes if `download` does not run: while it does, a jump would end its requests.
    private static func passTime(for download: Download, _ clock: ShiftableClock) -> Bool {
        switch download.state {
        case .waiting, .failed: clock.shift(by: .seconds(30))
        case .queued, .running, .paused, .done: return false
        }
        return true
    }

    private static func reopened(_ bench: Bench, _ body: (MediaCache) async throws -> Void) async throws {
        try await bench.reopened(
            configure: {
                $0.downloadsStreams = true
                $0.retry.firstDelay = .milliseconds(1)
                $0.retry.maximumDelay = .milliseconds(2)
            }, body)
    }

    private static func names(_ cache: MediaCache) async throws -> Set<String> {
        Set(try await cache.entries().filter(\.isComplete).map { "/" + $0.url.lastPathComponent })
    }

    /// Segments that were stored as wholes are asked for once, whatever happens.
    private static func expectOnce(_ paths: some Sequence<String>, _ bench: Bench) {
        for path in paths { #expect(bench.origin.snapshot[path].requestCount == 1, "\(path)") }
    }

    // MARK: - The origin

    @Test("a segment that is another file when the download goes on is fetched as it is now")
    func changedSegment() async throws {
        try await Self.run { bench, resource async throws in
            try await Self.breakOff(bench, resource)
            bench.publish("/high3.ts", length: Self.length, seed: 33, etag: "\"v2\"", type: "video/mp2t")
            try await Self.reopened(bench) { cache async throws in
                let download = try await cache.endedDownload()
                #expect(download.isDone, "\(download.state)")
                let bytes = try await cache.resource(for: bench.origin.url("/high3.ts")).read().collect()
                #expect(bytes == TestPattern.bytes(in: 0..<Self.length, seed: 33))
                Self.expectOnce(Self.segments[..<2], bench)
            }
        }
    }

    @Test("a segment that changed while its download was away is sent once, in answer to the request for its rest")
    func changedSegmentIsSentOnce() async throws {
        let (path, length) = (Self.segments[2], Int64(400_001))
        try await Self.run { bench, resource async throws in
            bench.publish(path, length: length, seed: 3, type: "video/mp2t")
            bench.origin.hold(path, at: 200_000)
            try await bench.cache.downloads.add(resource)
            await bench.origin.waitUntil { $0[path].bodyBytesSent >= 200_000 }
            await eventually {
                let entries = (try? await bench.cache.entries()) ?? []
                return entries.contains { $0.url.target == path && $0.storedBytes > 0 }
            }
            await bench.cache.close()
            bench.origin.release(path)
            bench.publish(path, length: length, seed: 33, etag: "\"v2\"", type: "video/mp2t")
            let count = bench.origin.snapshot[path].requestCount
            try await Self.reopened(bench) { cache async throws in
                let download = try await cache.endedDownload()
                #expect(download.isDone, "\(download.state)")
                let bytes = try await cache.resource(for: bench.origin.url(path)).read().collect()
                #expect(bytes == TestPattern.bytes(in: 0..<length, seed: 33))
                let requests = bench.origin.snapshot[path].requests
                #expect(requests.count == count + 1)
                #expect(requests.last?.fields[.ifRange] == "\"v1\"")
            }
        }
    }

    @Test(
        "a stream that was encoded once more under the same names, or only its lists: no old byte stays, none comes twice",
        arguments: ["/master.m3u8", "/high.m3u8"].flatMap { [($0, true), ($0, false)] }, ["max-age=0", "no-cache"])
    func encodedAnew(stream: (first: String, isNew: Bool), control: String) async throws {
        let (first, isNew) = stream
        try await Self.run { bench, _ async throws in
            let names = (1...4).map { "high\($0).ts" }
            Self.publish(Self.list(names), at: "/high.m3u8", bench, control: control)
            let resource = try bench.cache.resource(for: bench.origin.url(first))
            try await Self.breakOff(bench, resource, lists: first == "/high.m3u8" ? [first] : Self.lists)
            let other = Self.list(names).replacing("EXTINF:4", with: "EXTINF:3.9")
            Self.publish(other, at: "/high.m3u8", bench, control: control)
            for number in 1...4 where isNew {
                bench.publish(
                    "/high\(number).ts", length: Self.length, seed: UInt64(30 + number), etag: "\"v2\"",
                    type: "video/mp2t")
            }
            let sent = bench.origin.snapshot
            try await Self.reopened(bench) { cache async throws in
                let download = try await cache.endedDownload()
                #expect(download.isDone, "\(download.state)")
                for number in 1...4 {
                    let bytes = try await cache.resource(for: bench.origin.url("/high\(number).ts")).read().collect()
                    #expect(
                        bytes == TestPattern.bytes(in: 0..<Self.length, seed: UInt64(isNew ? 30 + number : number)))
                }
                for path in Self.segments[..<2] where !isNew {
                    #expect(bench.origin.snapshot[path].bodyBytesSent == sent[path].bodyBytesSent, "\(path)")
                }
            }
        }
    }

    @Test("lists that come again as they were, from an origin without validators: nothing else is asked for again")
    func sameWithoutValidators() async throws {
        try await Self.run { bench, resource async throws in
            func publish(_ text: String, at path: String) {
                Self.publish(text, at: path, bench, control: "max-age=0", hasValidator: false)
            }
            publish("#EXTM3U\n\(Self.high)\(Self.low)", at: "/master.m3u8")
            publish(Self.list((1...4).map { "high\($0).ts" }), at: "/high.m3u8")
            for number in 1...4 {
                bench.origin.set(
                    TestOrigin.Resource(
                        .pattern(seed: UInt64(number), length: Self.length), mediaType: "video/mp2t", etag: nil,
                        lastModified: nil, fields: [.cacheControl: "max-age=0"]), at: "/high\(number).ts")
            }
            try await bench.cache.downloads.add(resource)
            try await Self.finish(bench.cache, count: 1)
            try await bench.cache.remove(bench.cache.resource(for: bench.origin.url("/high3.ts")).key)
            // The second time the segment is gone, so that the lists are asked for once more.
            for status in [nil, 404] {
                bench.publish("/high3.ts", length: Self.length, seed: 3, etag: nil, type: "video/mp2t") {
                    $0.status = status
                }
                if status != nil {
                    try await bench.cache.remove(bench.cache.resource(for: bench.origin.url("/high3.ts")).key)
                }
                try await bench.cache.downloads.add(resource)
                let download = try await bench.cache.endedDownload()
                #expect(download.isDone == (status == nil), "\(download.state)")
            }
            let sent = bench.origin.snapshot
            #expect(sent["/high.m3u8"].requestCount >= 3, "the lists were asked for again")
            Self.expectOnce(["/high1.ts", "/high2.ts", "/high4.ts"], bench)
        }
    }

    @Test(
        "a list that names other segments when the download goes on is fetched again, also one with fewer",
        arguments: [["new1.ts", "new2.ts", "new3.ts"], ["high1.ts", "high2.ts"]])
    func otherList(names: [String]) async throws {
        try await Self.run { bench, resource async throws in
            try await Self.breakOff(bench, resource)
            Self.publish(Self.list(names), at: "/high.m3u8", bench)
            for path in Self.segments[2...] { bench.publish(path, length: Self.length) { $0.status = 404 } }
            for name in names where name.hasPrefix("new") { bench.publish("/\(name)", length: Self.length) }
            try await Self.reopened(bench) { cache async throws in
                let download = try await cache.endedDownload()
                #expect(download.isDone, "\(download.state)")
                #expect(download.files?.all == 3 + names.count)
                let stored = try await Self.names(cache)
                #expect(stored.isSuperset(of: Self.lists + ["/key"] + names.map { "/\($0)" }))
                #expect(stored.isSuperset(of: Self.segments[..<2]), "nothing stored is lost")
                // The new list may mean other files of the same names: they are validated, and sent once.
                for path in Self.segments[..<2] { #expect(bench.origin.snapshot[path].bodyBytesSent == Self.length) }
            }
        }
    }

    @Test(
        "segments that no list names any more are given up when the new ones are whole, and not before; others keep theirs",
        arguments: [false, true])
    func outgrownSegments(isReopened: Bool) async throws {
        try await Self.run { bench, resource async throws in
            Self.publish(Self.list((1...4).map { "high\($0).ts" }), at: "/high.m3u8", bench, control: "max-age=0")
            Self.publish(Self.list(["high4.ts"]), at: "/other.m3u8", bench)
            let other = try bench.cache.resource(for: bench.origin.url("/other.m3u8"))
            try await bench.cache.downloads.add(resource)
            try await bench.cache.downloads.add(other)
            try await Self.finish(bench.cache, count: 2)
            let own = try bench.cache.resource(for: bench.origin.url("/high3.ts"))
            try await bench.cache.retain(own, as: .pinned)

            for name in ["new2", "new3"] { bench.publish("/\(name).ts", length: Self.length, type: "video/mp2t") }
            bench.origin.hold("/new2.ts", at: 50_000)
            Self.publish(Self.list(["high1.ts", "new2.ts", "new3.ts"]), at: "/high.m3u8", bench, control: "max-age=0")
            _ = try await bench.cache.resource(for: bench.origin.url("/high.m3u8")).read().drain()
            try await bench.cache.downloads.add(resource)
            await bench.origin.waitUntil { $0["/new2.ts"].bodyBytesSent >= 50_000 && $0["/new3.ts"].requestCount > 0 }
            let before = try await Self.kept(bench.cache)
            #expect(before["high2.ts"] == .download && before["high1.ts"] == .download, "not before the new is whole")
            if isReopened { await bench.cache.close() }
            bench.origin.release("/new2.ts")
            func check(_ cache: MediaCache) async throws {
                try await Self.finish(cache, count: 2)
                let kept = try await Self.kept(cache)
                #expect(kept["high2.ts"] == .cached, "no list names it")
                #expect(kept["high3.ts"] == .pinned, "by itself")
                for name in ["high1.ts", "new2.ts", "new3.ts", "key", "high.m3u8", "master.m3u8", "high4.ts"] {
                    #expect(kept[name] == .download, "\(name)")
                }
                let titles = try await cache.titles()
                // With those that were given up; the one that the other list names is no longer among them.
                #expect(titles.first { $0.key == resource.key }?.fileCount == 8)
                #expect(titles.first { $0.key == other.key }?.fileCount == 3)
                #expect(titles.count == 2, "what no list names is no title of its own")
                try await cache.removeTitle(resource.key)
                #expect(Set(try await Self.kept(cache).keys) == ["other.m3u8", "key", "high4.ts", "high3.ts"])
            }
            if isReopened { try await Self.reopened(bench, check) } else { try await check(bench.cache) }
        }
    }

    @Test("segments that a list names again are kept again, and not fetched twice") func listedAgain() async throws {
        try await Self.run { bench, resource async throws in
            let names = (1...4).map { "high\($0).ts" }
            for count in [4, 2, 4] {
                Self.publish(Self.list(Array(names.prefix(count))), at: "/high.m3u8", bench, control: "max-age=0")
                bench.cache.engine.invalidate(try bench.cache.resource(for: bench.origin.url("/high.m3u8")).key)
                try await bench.cache.downloads.add(resource)
                try await Self.finish(bench.cache, count: 1)
                let kept = try await Self.kept(bench.cache)
                for (number, name) in names.enumerated() {
                    #expect(kept[name] == (number < count ? .download : .cached), "\(name) of \(count)")
                }
            }
            for name in names { #expect(bench.origin.snapshot["/\(name)"].bodyBytesSent == Self.length, "\(name)") }
        }
    }

    @Test("a download that was done and loses a segment is not done until that is fetched again")
    func removedSegment() async throws {
        try await Self.run { bench, resource async throws in
            try await bench.cache.downloads.add(resource)
            try await Self.finish(bench.cache, count: 1)
            let segment = try bench.cache.resource(for: bench.origin.url("/high3.ts"))
            bench.origin.hold("/high3.ts", at: 50_000)
            try await bench.cache.remove(segment.key)
            let states = await bench.cache.downloads.list()
            #expect(states.count == 1 && !states.contains(where: \.isDone))
            bench.origin.release("/high3.ts")
            try await Self.finish(bench.cache, count: 1)
            let bytes = try await segment.read().collect()
            #expect(bytes == TestPattern.bytes(in: 0..<Self.length, seed: 3))
            #expect(bench.origin.snapshot["/high3.ts"].requestCount == 2)
            Self.expectOnce(["/high1.ts", "/high2.ts", "/high4.ts"], bench)
        }
    }

    /// Returns when so many downloads are done.
    private static func finish(_ cache: MediaCache, count: Int) async throws {
        for await list in cache.downloads.updates(every: .zero) where list.count(where: \.isDone) == count { return }
        throw RepriseError(.closed, "The cache was closed.")
    }

    private static func kept(_ cache: MediaCache) async throws -> [String: Retention] {
        let entries = try await cache.entries()
        return Dictionary(uniqueKeysWithValues: entries.map { ($0.url.lastPathComponent, $0.retention) })
    }

    @Test("a playlist of a stored stream that is pinned keeps what it names, and the others go")
    func pinnedTrack() async throws {
        try await Self.run { bench, resource async throws in
            try await bench.cache.downloads.add(resource)
            try await Self.finish(bench.cache, count: 1)
            try await bench.cache.downloads.add(resource, selection: StreamSelection(quality: .smallest))
            await bench.origin.waitUntil { $0["/low4.ts"].bodyBytesSent >= Self.length }
            try await Self.finish(bench.cache, count: 1)
            try await bench.cache.retain(resource, as: .cached)
            let track = try bench.cache.resource(for: bench.origin.url("/high.m3u8"))
            try await bench.cache.retain(track, as: .pinned)
            let kept = try await Self.kept(bench.cache)
            #expect(
                Set(kept.filter { $0.value == .pinned }.keys)
                    == ["high.m3u8", "key", "high1.ts", "high2.ts", "high3.ts", "high4.ts"])
            #expect(kept.count == 12)
            let title = try #require(try await bench.cache.titles().first { $0.key == track.key })
            #expect(title.fileCount == 6 && title.retention == .pinned)
            await bench.cache.becomeIdle()
            _ = await bench.cache.prune(toSize: 0)
            #expect(try await bench.cache.entries().count == 6)
            #expect(try await bench.cache.titles(complete: true).map(\.key) == [track.key])
        }
    }

    @Test("a variant whose list is gone: the download fails, says which one, and goes on when it is there again")
    func goneList() async throws {
        try await Self.run { bench, resource async throws in
            Self.publish("", at: "/high.m3u8", bench, status: 404)
            try await bench.cache.downloads.add(resource)
            guard case .failed(let error) = try await bench.cache.endedDownload().state else {
                return #expect(Bool(false), "it has not failed")
            }
            #expect(error.code == .originRefused && error.message.contains("/high.m3u8"), "\(error.message)")
            #expect(bench.origin.snapshot.requests.allSatisfy { !$0.path.hasSuffix(".ts") })
            try await bench.cache.downloads.add(resource, selection: StreamSelection(quality: .smallest))
            for await list in bench.cache.downloads.updates(every: .zero) {
                if let first = list.first, first.isDone { break }
            }
            Self.expectOnce(["/master.m3u8", "/low.m3u8", "/low1.ts", "/low4.ts"], bench)
        }
    }

    @Test("a variant that the new master does not name: another one that fits is downloaded, nothing stored is lost")
    func goneVariant() async throws {
        try await Self.run { bench, resource async throws in
            try await Self.breakOff(bench, resource)
            Self.publish("#EXTM3U\n\(Self.low)", at: "/master.m3u8", bench)
            for path in ["/high.m3u8"] + Self.segments { bench.publish(path, length: 1) { $0.status = 410 } }
            try await Self.reopened(bench) { cache async throws in
                let download = try await cache.endedDownload()
                #expect(download.isDone, "\(download.state)")
                let stored = try await Self.names(cache)
                #expect(stored.isSuperset(of: ["/low1.ts", "/low4.ts", "/low.m3u8"]))
                #expect(stored.isSuperset(of: Self.segments[..<2]), "nothing stored is lost")
            }
        }
    }

    @Test(
        "a key server that refuses: the download says so, and goes on with what it has",
        arguments: [(401, "authorization"), (403, "authorization"), (503, "network"), (404, "failed")])
    func refusedKey(status: Int, state: String) async throws {
        let clock = ShiftableClock()
        try await Self.run(configure: { $0.clock = clock.cacheClock }) { bench, resource async throws in
            Self.publishKey(bench, status: status)
            try await bench.cache.downloads.add(resource)
            let download = try await bench.cache.endedDownload()
            let error = try #require(download.state.error)
            #expect(error.refusal?.head.status.code == status && error.message.contains("/key"), "\(error.message)")
            switch download.state {
            case .waiting(let obstacle, _): #expect("\(obstacle)" == state)
            default: #expect(state == "failed")
            }
            Self.publishKey(bench)
            let before = try await Self.names(bench.cache)
            await Self.complete(bench, resource, clock)
            #expect(try await Self.names(bench.cache).isSuperset(of: before))
            let snapshot = await bench.origin.settledSnapshot()
            for path in Self.segments {
                #expect(snapshot[path].distinctBytesSent.byteCount == Self.length, "\(path)")
            }
        }
    }

    // MARK: - The disk and the limit

    @Test("a disk that is full when 97 % are stored: the download waits for space, and goes on where it was")
    func fullDisk() async throws {
        let (disk, clock) = (FaultyDisk(), ShiftableClock())
        try await Self.run(configure: {
            $0.fileSystem = disk
            $0.clock = clock.cacheClock
        }) { bench, resource async throws in
            let length: Int64 = 1_000_000
            for path in Self.segments { bench.publish(path, length: length, type: "video/mp2t") }
            let most = 4 * length * 97 / 100
            disk.setFault { [cache = bench.cache] _ in cache.statistics.bytesFetched < most ? nil : .error(ENOSPC) }
            try await bench.cache.downloads.add(resource)
            let download = try await bench.cache.endedDownload()
            guard case .waiting(.space, let error) = download.state else {
                return #expect(Bool(false), "\(download.state)")
            }
            #expect(error.code == .storageFull && !error.message.isEmpty, "\(error.message)")
            await bench.cache.becomeIdle()
            var stored: [String: ByteRangeSet] = [:]
            for path in Self.segments { stored[path] = try await Self.ranges(path, bench) }
            let count = stored.values.reduce(0) { $0 + $1.byteCount }
            #expect(count >= 4 * length * 80 / 100 && count < 4 * length)
            let before = bench.origin.snapshot.requests.count
            disk.setFault { _ in nil }
            // Nothing but time passes until the pause is over.
            await eventually {
                guard let download = await bench.cache.downloads.list().first else { return false }
                if case .failed = download.state { return true }
                _ = Self.passTime(for: download, clock)
                return download.isDone
            }
            let ended = try #require(await bench.cache.downloads.list().first)
            #expect(ended.isDone, "\(ended.state)")
            for request in await bench.origin.settledSnapshot().requests.dropFirst(before) {
                let range = request.requestedRange ?? 0..<length
                #expect(stored[request.path]?.intersects(range) == false, "\(request.path) \(range)")
            }
            for path in Self.segments {
                let bytes = try await bench.bytes(path)
                #expect(bytes == TestPattern.bytes(in: 0..<length, seed: 1), "\(path)")
            }
        }
    }

    private static func ranges(_ path: String, _ bench: Bench) async throws -> ByteRangeSet {
        try await bench.cache.resource(for: bench.origin.url(path)).storedProgress().ranges
    }

    @Test("a limit smaller than the title: the download waits for space, keeps what fits, evicts nothing that is kept")
    func smallLimit() async throws {
        let clock = ShiftableClock()
        try await Self.run(configure: {
            $0.limit = 280_000
            $0.clock = clock.cacheClock
        }) { bench, resource async throws in
            bench.publish("/pinned", length: 50_000)
            let pinned = try bench.cache.resource(for: bench.origin.url("/pinned"))
            _ = try await pinned.read().drain()
            try await bench.cache.retain(pinned, as: .pinned)
            try await bench.cache.downloads.add(resource)
            let download = try await bench.cache.endedDownload()
            guard case .waiting(.space, let error) = download.state else {
                return #expect(Bool(false), "\(download.state)")
            }
            #expect(error.code == .storageFull && error.message.contains("limit"), "\(error.message)")
            let before = try await Self.names(bench.cache)
            #expect(before.contains("/pinned"))
            try await bench.cache.setLimit(10_000_000)
            await Self.complete(bench, resource, clock)
            #expect(try await Self.names(bench.cache).isSuperset(of: before))
            Self.expectOnce(before.filter { $0.hasSuffix(".ts") }, bench)
        }
    }

    // MARK: - The clock, and another process

    @Test("a clock that jumps during a download, by years in both directions: each byte is fetched once")
    func jumpingClock() async throws {
        let (clock, jump) = (ShiftableClock(), Mutex(0.0))
        let wall = CacheClock(clock) { clock.wallClock.addingTimeInterval(jump.withLock { $0 }) }
        try await Self.run(configure: { $0.clock = wall }) { bench, resource async throws in
            for path in Self.segments { bench.origin.hold(path, at: 30_000) }
            try await bench.cache.downloads.add(resource)
            let years: [Double] = [10, -20, 0, 1]
            for (path, years) in zip(Self.segments, years) {
                await bench.origin.waitUntil { $0[path].bodyBytesSent >= 30_000 }
                jump.withLock { $0 = years * 365 * 86_400 }
                bench.origin.release(path)
            }
            #expect(try await bench.cache.endedDownload().isDone)
            Self.expectOnce(Self.lists + Self.segments, bench)
            jump.withLock { $0 = -30 * 365 * 86_400 }
            await bench.cache.close()
            try await bench.reopened(configure: {
                $0.downloadsStreams = true
                $0.clock = wall
            }) { cache async throws in
                #expect(try await cache.endedDownload().isDone)
                #expect(try await Self.names(cache).isSuperset(of: Self.lists + Self.segments))
            }
            Self.expectOnce(Self.lists + Self.segments, bench)
        }
    }

    @Test("a second process is told that the directory is in use, and the download goes on")
    func secondProcess() async throws {
        try await Self.run { bench, resource async throws in
            bench.origin.hold("/high2.ts", at: 10_000)
            try await bench.cache.downloads.add(resource)
            await bench.origin.waitUntil { $0["/high2.ts"].bodyBytesSent >= 10_000 }
            // Locks of one process exclude each other, as those of two do.
            let error = #expect(throws: RepriseError.self) {
                try DirectoryLock(directory: bench.directory.path, in: SystemFileSystem())
            }
            #expect(error?.code == .storageLocked)
            // Reading beside it is allowed, and shows the download.
            let inspector = try CacheInspector(directory: bench.directory.path)
            #expect(try inspector.titles().isEmpty || inspector.titles().map(\.key) == [resource.key])
            bench.origin.release("/high2.ts")
            #expect(try await bench.cache.endedDownload().isDone)
            Self.expectOnce(Self.lists + Self.segments, bench)
        }
    }
}
