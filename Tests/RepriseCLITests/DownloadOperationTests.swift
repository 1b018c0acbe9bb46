import HTTPTypes
import Primitives
import Reprise
import RepriseStreams
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// Several commands that wait for one download of a server, as the server runs them.
@Suite(.limit(minutes: 2)) struct DownloadOperationTests {
    /// A command that waits for a download, once it has told of it.
    private static func begin(
        _ bench: Bench, _ path: String = "/film", quality: String? = nil
    ) async -> Task<DownloadOperation.Outcome, any Error> {
        let operation = DownloadOperation(
            url: bench.origin.url(path), quality: quality, codec: nil, audio: nil, subtitles: nil, pause: true,
            names: Names())
        let (told, teller) = AsyncStream.makeStream(of: Void.self)
        let task = Task { try await operation.run(in: bench.cache) { _ in teller.yield() } }
        for await _ in told { break }
        return task
    }

    private static func isPaused(_ bench: Bench) async -> Bool {
        if case .paused = await bench.cache.downloads.list().first?.state { true } else { false }
    }

    @Test("ending one of two leaves the download to the other, and ending both pauses it", arguments: [true, false])
    func two(isFirst: Bool) async throws {
        try await Bench.run { bench async throws in
            bench.publish("/film", length: 300_000)
            bench.origin.hold("/film", at: 100_000)
            let (first, second) = (await Self.begin(bench), await Self.begin(bench))
            let order = isFirst ? [first, second] : [second, first]
            order[0].cancel()
            await #expect(throws: CancellationError.self) { try await order[0].value }
            #expect(await !Self.isPaused(bench))
            order[1].cancel()
            await #expect(throws: CancellationError.self) { try await order[1].value }
            #expect(await Self.isPaused(bench))
        }
    }

    @Test("the other one sees the end of the download") func theOtherGoesOn() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/film", length: 300_000)
            bench.origin.hold("/film", at: 100_000)
            let (first, second) = (await Self.begin(bench), await Self.begin(bench))
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            bench.origin.release("/film")
            let outcome = try await second.value
            #expect(outcome.failure == nil && outcome.storedBytes == 300_000)
        }
    }

    @Test("a file that has changed counts from zero") func changedFile() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/film", length: 1_000_000)
            bench.origin.hold("/film", at: 200_000)
            let first = await Self.begin(bench)
            let resource = try bench.cache.resource(for: bench.origin.url("/film"))
            await eventually { await resource.storedProgress().ranges.byteCount > 100_000 }
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.value }
            await bench.cache.becomeIdle()
            bench.origin.release("/film")
            bench.publish("/film", length: 250_000, seed: 2, etag: "\"v2\"") { $0.bytesPerSecond = 200_000 }
            let told = Mutex<[TransferReport]>([])
            let operation = DownloadOperation(
                url: bench.origin.url("/film"), quality: nil, codec: nil, audio: nil, subtitles: nil, pause: true,
                names: Names())
            let outcome = try await operation.run(in: bench.cache) { report in told.withLock { $0.append(report) } }
            #expect(outcome.storedBytes == 250_000)
            let reports = told.withLock { $0 }
            #expect(reports.contains { $0.total == 250_000 && $0.bytes > 0 }, "\(reports)")
            #expect(reports.allSatisfy { 0...$0.bytes ~= $0.fromStore }, "\(reports)")
            #expect(reports.filter { $0.total == 250_000 }.allSatisfy { $0.fromStore == 0 }, "\(reports)")
        }
    }

    @Test("what was under way before goes on") func underWay() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/film", length: 300_000)
            bench.origin.hold("/film", at: 100_000)
            try await bench.cache.downloads.add(bench.cache.resource(for: bench.origin.url("/film")))
            let task = await Self.begin(bench)
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(await !Self.isPaused(bench))
        }
    }

    @Test("a server that ends pauses nothing: the next one goes on") func endOfTheProcess() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/film", length: 300_000)
            bench.origin.hold("/film", at: 100_000)
            let task = await Self.begin(bench)
            bench.cache.downloads.commands.processEnds()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(await !Self.isPaused(bench))
        }
    }

    @Test("who waits for one quality is not told that another one is all") func otherSelection() async throws {
        try await Bench.run(configure: { $0.downloadsStreams = true }) { bench async throws in
            let variants = ["high": 2_000_000, "low": 800_000]
            for (name, bandwidth) in variants {
                Self.publish(
                    "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n\(name).ts\n#EXT-X-ENDLIST\n", "/\(name).m3u8", bench
                )
                bench.publish("/\(name).ts", length: Int64(bandwidth / 10), type: "video/mp2t")
                bench.origin.hold("/\(name).ts", at: 40_000)
            }
            let lines = variants.map { "#EXT-X-STREAM-INF:BANDWIDTH=\($0.value)\n\($0.key).m3u8\n" }
            Self.publish("#EXTM3U\n\(lines.joined())", "/main.m3u8", bench)
            let first = await Self.begin(bench, "/main.m3u8", quality: "best")
            let second = await Self.begin(bench, "/main.m3u8", quality: "smallest")
            for name in variants.keys { bench.origin.release("/\(name).ts") }
            let (replaced, whole) = (try await first.value, try await second.value)
            #expect(replaced.failure?.code == "replaced")
            #expect(whole.failure == nil)
        }
    }

    /// Publishes a stream with so many segments of 400,000 bytes; returns the length of its playlists, and where the
    /// outermost one is.
    private static func publishStream(segments: Int, _ bench: Bench) -> (playlistBytes: Int64, path: String) {
        let main = "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=800000\nlow.m3u8\n"
        let lines = (0..<segments).map { "#EXTINF:4,\n\($0).ts\n" }.joined()
        let list = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(lines)#EXT-X-ENDLIST\n"
        publish(main, "/main.m3u8", bench)
        publish(list, "/low.m3u8", bench)
        for number in 0..<segments { bench.publish("/\(number).ts", length: 400_000, type: "video/mp2t") }
        return (Int64(main.utf8.count + list.utf8.count), "/main.m3u8")
    }

    @Test("on a full disk a download waits and keeps what has come, and goes on when it is asked for once more")
    func fullDisk() async throws {
        let disk = FaultyDisk()
        try await Bench.run(configure: {
            $0.downloadsStreams = true
            $0.fileSystem = disk
        }) { bench async throws in
            let path = Self.publishStream(segments: 12, bench).path
            // Three segments are fetched at once: some are complete by then.
            disk.setFreeBytes { [cache = bench.cache] in
                cache.statistics.bytesFetched < 2_000_000 ? 1 << 40 : 987_000
            }
            let operation = DownloadOperation(
                url: bench.origin.url(path), quality: nil, codec: nil, audio: nil, subtitles: nil, pause: true,
                names: Names())
            let outcome = try await operation.run(in: bench.cache) { _ in }
            let message = outcome.failure?.message ?? ""
            // Without a length, because that of the playlist, or of a segment, is not the stream's.
            let start = "main.m3u8 cannot be stored as a whole: 987 kB are free on the disk, and "
            #expect(outcome.failure?.code == "notStored" && message.hasPrefix(start), "\(message)")
            let end = " stored, and goes on by itself when there is room."
            #expect(outcome.isWaiting == true && message.hasSuffix(end), "\(message)")

            let resource = try bench.cache.resource(for: bench.origin.url(path))
            let waiting = try #require(await Self.waiting(bench.cache))
            let trouble = await DownloadTrouble(waiting, at: resource)
            #expect(trouble?.reason.hasPrefix(start) == true && trouble?.waitsFor == "space", "\(trouble as Any)")
            // As another process reads it in the index.
            let told = DownloadTrouble(waiting)?.reason
            #expect(told?.hasPrefix("The disk is almost full: 987000 bytes are free, ") == true, "\(told as Any)")

            await bench.cache.prune(toSize: 0)
            let kept = try await bench.cache.entries().filter(\.isComplete).map(\.url.target)
            #expect(kept.count > 2, "\(kept)")
            disk.setFreeBytes(nil)
            let whole = try await operation.run(in: bench.cache) { _ in }
            #expect(whole.failure == nil && whole.storedBytes > 4_800_000, "\(whole)")
            let snapshot = await bench.origin.settledSnapshot()
            for path in kept { #expect(snapshot.requests.count { $0.path == path } == 1, "\(path)") }

            // What another process has recorded has its code and its message alone.
            disk.setFreeBytes { 201_500_000 }
            let recorded = RepriseError(.storageFull, "Full.", range: 0..<3_000_000)
            let reason = Failure.reason(await Pin.reason(recorded, of: resource, isDownload: true))?.message
            let words = "main.m3u8 cannot be stored as a whole: 202 MB are free on the disk, and "
            #expect(reason?.hasPrefix(words) == true, "\(reason as Any)")
        }
    }

    @Test("a disk that is too small for it is no reason to wait, as a limit is none")
    func smallDisk() async throws {
        let disk = FaultyDisk()
        disk.setCapacity(201_000_000)
        disk.setFreeBytes { 200_900_000 }
        try await Bench.run(configure: { $0.fileSystem = disk }) { bench async throws in
            bench.publish("/film", length: 3_000_000)
            let operation = DownloadOperation(
                url: bench.origin.url("/film"), quality: nil, codec: nil, audio: nil, subtitles: nil, pause: true,
                names: Names())
            let outcome = try await operation.run(in: bench.cache) { _ in }
            #expect(outcome.isWaiting != true)
            #expect(
                outcome.failure?.message
                    == "film cannot be stored as a whole: it has 3.00 MB, and the disk is too small: it has 201 MB, and "
                    + "200 MB are to stay free (--minimum-free, and what the index needs). Choose a directory on another "
                    + "one with --cache-dir.")
            #expect(await bench.cache.downloads.list().isEmpty, "it is no download, as before")
        }
    }

    @Test(
        "what came of a quality for which there is no room goes again, and what was downloaded before stays",
        arguments: [false, true])
    func noRoomForAnotherQuality(isPaused: Bool) async throws {
        try await Bench.run(configure: {
            $0.downloadsStreams = true
            $0.limit = 2_400_000
        }) { bench async throws in
            let variants = "#EXT-X-STREAM-INF:BANDWIDTH=1\nlow.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=2\nhigh.m3u8\n"
            Self.publish("#EXTM3U\n" + variants, "/main.m3u8", bench)
            for (name, count) in [("low", 2), ("high", 8)] {
                let lines = (0..<count).map { "#EXTINF:4,\n\(name)\($0).ts\n" }.joined()
                Self.publish("#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(lines)#EXT-X-ENDLIST\n", "/\(name).m3u8", bench)
                for number in 0..<count { bench.publish("/\(name)\(number).ts", length: 400_000, type: "video/mp2t") }
            }
            func download(_ quality: String) async throws -> DownloadOperation.Outcome {
                let operation = DownloadOperation(
                    url: bench.origin.url("/main.m3u8"), quality: quality, codec: nil, audio: nil, subtitles: nil,
                    pause: true, names: Names())
                return try await operation.run(in: bench.cache) { _ in }
            }
            if isPaused {
                let resource = try bench.cache.resource(for: bench.origin.url("/main.m3u8"))
                try await bench.cache.downloads.add(resource, selection: StreamSelection(quality: .smallest))
                try await bench.cache.downloads.pause(resource.key)
            } else {
                let first = try await download("smallest")
                #expect(first.failure == nil, "\(first)")
            }
            let second = try await download("best")
            #expect(second.failure?.code == "notStored" && second.isWaiting == nil, "\(second)")
            #expect(await bench.origin.settledSnapshot().requests.contains { $0.path == "/high0.ts" })
            let names = Set(try await bench.cache.entries().map(\.url.lastPathComponent))
            let former: Set = ["main.m3u8", "low.m3u8", "low0.ts", "low1.ts"]
            #expect(isPaused ? names.isSubset(of: former) : names == former, "\(names)")
            let kept = try #require(await bench.cache.downloads.list().first)
            let staysPaused = if case .paused = kept.state { true } else { false }
            #expect(kept.selection == StreamSelection(quality: .smallest) && staysPaused == isPaused)
            #expect(isPaused || kept.fraction == 1)
            let third = try await download("smallest")
            #expect(third.failure == nil, "\(third)")
        }
    }

    @Test("fields go to the origin, as those of fetch", arguments: [false, true]) func fields(isBeginning: Bool)
        async throws
    {
        try await Bench.run { bench async throws in
            bench.publish("/film", length: 1000)
            let (url, fields) = (bench.origin.url("/film"), ["Referer: https://tv.example/"])
            if isBeginning {
                let operation = PinOperation(url: url, until: nil, first: "500B", fields: fields, names: Names())
                #expect(try await operation.run(in: bench.cache) { _ in }.failure == nil)
            } else {
                let operation = DownloadOperation(
                    url: url, quality: nil, codec: nil, audio: nil, subtitles: nil, pause: nil, fields: fields,
                    names: Names())
                #expect(try await operation.run(in: bench.cache) { _ in }.failure == nil)
            }
            let requests = await bench.origin.settledSnapshot().requests
            #expect(!requests.isEmpty && requests.allSatisfy { $0.fields[.referer] == "https://tv.example/" })
            let wrong = DownloadOperation(
                url: url, quality: nil, codec: nil, audio: nil, subtitles: nil, pause: nil, fields: ["Host: b"],
                names: Names())
            await #expect { _ = try await wrong.run(in: bench.cache) { _ in } } throws: {
                ($0 as? RepriseError)?.code == .invalidArgument
            }
        }
    }

    @Test("a download that gives way to a player says so, and does not tell the length of its playlist as its own")
    func givesWay() async throws {
        try await Bench.run(configure: { $0.downloadsStreams = true }) { bench async throws in
            let path = Self.publishStream(segments: 2, bench).path
            _ = try await bench.bytes(path)
            bench.publish("/film.mp4", length: 300_000)
            bench.origin.hold("/film.mp4", at: 0)
            let player = Task { try await bench.bytes("/film.mp4") }
            await eventually { bench.origin.snapshot.requests.contains { $0.path == "/film.mp4" } }
            let operation = DownloadOperation(
                url: bench.origin.url(path), quality: nil, codec: nil, audio: nil, subtitles: nil, pause: true,
                names: Names())
            let (reports, teller) = AsyncStream.makeStream(of: TransferReport.self)
            let task = Task { try await operation.run(in: bench.cache) { teller.yield($0) } }
            for await report in reports where report.yields == true {
                #expect(report.total == nil)
                break
            }
            let listing = DownloadsOperation(pause: [], resume: [], first: nil, names: Names())
            let item = try #require(try await listing.run(in: bench.cache) { _ in }.downloads.first)
            #expect(item.state == "waiting" && item.trouble?.waitsFor == "playback" && item.completeLength == nil)
            bench.origin.release("/film.mp4")
            let played = try await player.value
            #expect(played.count == 300_000)
            let outcome = try await task.value
            #expect(outcome.failure == nil, "\(outcome)")
            let done = try #require(await bench.cache.downloads.list().first)
            #expect(!done.yieldsToPlayback && done.fraction == 1)
        }
    }

    /// The first download, once it waits for room.
    private static func waiting(_ cache: MediaCache) async -> Download? {
        for await downloads in cache.downloads.updates(every: .zero) {
            if case .waiting(.space, _) = downloads.first?.state { return downloads.first }
        }
        return nil
    }

    @Test("no segment is asked for while the disk is known to be full")
    func nothingIsAskedForOnAFullDisk() async throws {
        let disk = FaultyDisk()
        try await Bench.run(configure: {
            $0.downloadsStreams = true
            $0.fileSystem = disk
        }) { bench async throws in
            let (playlistBytes, path) = Self.publishStream(segments: 4, bench)
            disk.setFreeBytes { [cache = bench.cache] in
                cache.statistics.bytesFetched < playlistBytes ? 1 << 40 : 987_000
            }
            try await bench.cache.downloads.add(bench.cache.resource(for: bench.origin.url(path)))
            let waiting = try #require(await Self.waiting(bench.cache))
            let error = try #require(waiting.lastError)
            #expect(error.obstacle == .fullDisk(free: 987_000, floor: 200_000_000), "\(error)")
            let paths = await bench.origin.settledSnapshot().requests.map(\.path)
            #expect(paths == ["/main.m3u8", "/low.m3u8"])
        }
    }

    private static func publish(_ list: String, _ path: String, _ bench: Bench) {
        bench.origin.set(
            TestOrigin.Resource(
                .bytes(Array(list.utf8)), mediaType: "application/vnd.apple.mpegurl", etag: "\"\(path)\"",
                fields: [.cacheControl: "max-age=86400"]), at: path)
    }

    @Test("a download that is put back has no reason of the one that failed, for the next process either")
    func reasonOfAnother() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/film", length: 300_000)
            bench.origin.hold("/film", at: 0)
            let resource = try bench.cache.resource(for: bench.origin.url("/film"))
            try await bench.cache.downloads.add(resource)
            try await bench.cache.downloads.pause(resource.key)
            // Or the file would come after all.
            await bench.cache.becomeIdle()
            await bench.origin.waitUntil { $0.responsesUnderWay == 0 }
            bench.origin.release("/film")
            bench.origin.set(
                TestOrigin.Resource(
                    .pattern(seed: 1, length: 10), personality: TestOrigin.Personality { $0.status = 404 }),
                at: "/film")
            for _ in 0..<40 {
                let former = try #require(await bench.cache.downloads.commands.former(resource.key))
                try await bench.cache.downloads.add(resource, selection: StreamSelection(quality: .smallest))
                for await list in bench.cache.downloads.updates(every: .zero) {
                    if case .failed = list.first?.state { break }
                }
                try await bench.cache.downloads.commands.putBack(former)
                await bench.cache.becomeIdle()
                let recorded = try await bench.cache.inspecting { try $0.downloads(of: resource.key) }
                #expect(recorded?.first?.lastError == nil)
                let now = await bench.cache.downloads.list().first
                #expect(now?.lastError == nil && now?.selection == StreamSelection())
            }
        }
    }
}
