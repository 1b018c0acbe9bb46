import Foundation
import Primitives
import RepriseHTTPClient
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// What apps see of downloads: states, order, pauses, restarts.
@Suite(.limit(minutes: 2)) struct DownloadsTests {
    private static let length: Int64 = 300_000

    /// The states by file name.
    private static func states(_ downloads: Downloads) async -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: await downloads.list().map { download in
                (download.url.lastPathComponent, "\(download.state)".prefix { $0 != "(" }.description)
            })
    }

    private static func reach(_ states: [String: String], _ cache: MediaCache) async {
        for await list in cache.downloads.updates(every: .zero) {
            let now = Dictionary(
                uniqueKeysWithValues: list.map {
                    ($0.url.lastPathComponent, "\($0.state)".prefix { $0 != "(" }.description)
                })
            if states.allSatisfy({ now[$0.key] == $0.value }) { return }
        }
        Issue.record("the cache was closed before \(states)")
    }

    /// A bench with files that stop after 100,000 bytes; `body` gets their resources.
    private static func run(
        _ names: [String], configure: (inout MediaCache.Configuration) -> Void = { _ in },
        _ body: (Bench, [MediaResource]) async throws -> Void
    ) async throws {
        try await Bench.run(configure: configure) { bench async throws in
            for name in names {
                bench.publish(name, length: length)
                bench.origin.hold(name, at: 100_000)
            }
            try await body(bench, try names.map { try bench.cache.resource(for: bench.origin.url($0)) })
        }
    }

    /// Whether further requests began where the bytes ended that had arrived; up to a chunk of them may be unrecorded.
    private static func goesOn(_ counters: TestOrigin.PathCounters) -> Bool {
        counters.requests.dropFirst().allSatisfy { ($0.requestedRange?.lowerBound ?? 0) >= 65_536 }
    }

    @Test func aURLIsEnoughToAddPauseResumeAndRemoveOne() async throws {
        try await Self.run(["/a", "/b"]) { bench, _ in
            let downloads = bench.cache.downloads
            let (a, b) = try (
                #require(URL(string: bench.origin.url("/a"))), #require(URL(string: bench.origin.url("/b")))
            )
            try await downloads.add(a, name: "Nosferatu")
            try await downloads.add(b, partition: "ann", networkPolicy: .inexpensive)
            #expect(await Self.states(downloads) == ["a": "running", "b": "running"])
            #expect(await downloads[b, partition: "ann"]?.networkPolicy == .inexpensive)
            let ofAnn = await downloads.list(partition: "ann")
            #expect(ofAnn.map(\.url.lastPathComponent) == ["b"])
            for key in ofAnn.map(\.key) { #expect(await downloads[key]?.url == ofAnn.first?.url) }
            for await list in downloads.updates(partition: "ann", every: .zero) {
                #expect(list.map(\.key) == ofAnn.map(\.key))
                break
            }
            #expect(await downloads["no download"] == nil)
            let smallest = StreamSelection(quality: .smallest)
            try await downloads.add(b, selection: smallest, partition: "ann")
            #expect(await downloads[b, partition: "ann"]?.networkPolicy == .inexpensive)
            try await downloads.add(b, partition: "ann", networkPolicy: .any)
            #expect(await downloads[b, partition: "ann"]?.networkPolicy == .any)
            try await downloads.add(b, partition: "ann", networkPolicy: .inexpensive)
            #expect(await downloads[b, partition: "ann"]?.selection == smallest, "what is not said stays as it is")
            try await bench.cache.retain(b, as: .download, partition: "ann")
            #expect(await downloads[b, partition: "ann"]?.selection == smallest)
            let order: () async -> [String] = { await downloads.list().map(\.url.lastPathComponent) }
            try await downloads.move(b, before: a)
            #expect(await order() == ["a", "b"], "that of a partition is another one")
            try await downloads.move(a, before: nil)
            #expect(await order() == ["b", "a"])
            try await downloads.move(b, before: nil, partition: "ann")
            #expect(await order() == ["a", "b"])
            try await downloads.pause(b)
            #expect(await Self.states(downloads)["b"] == "running", "that of a partition is another one")
            try await downloads.pause(a)
            try await downloads.pause(b, partition: "ann")
            #expect(await Self.states(downloads) == ["a": "paused", "b": "paused"])
            try await downloads.resume(a)
            #expect(await Self.states(downloads) == ["a": "running", "b": "paused"])
            let named = try await bench.cache.titles().filter { $0.name != nil }
            #expect(named.map(\.name) == ["Nosferatu"])
            try await downloads.rename(b, to: "Ann's", partition: "ann")
            #expect(try await bench.cache.titles(partition: "ann").map(\.name) == ["Ann's"])
            #expect(await downloads.list().map(\.name) == ["Nosferatu", "Ann's"])
            try await downloads.remove(a)
            #expect(await Self.states(downloads) == ["b": "paused"])
            try await bench.cache.nameTitle(of: bench.cache.resource(for: a), name: nil, tag: "films")
            try await downloads.add(a, name: "Orlok")
            let again = try await bench.cache.titles().first { $0.name == "Orlok" }
            #expect(again?.tag == "films", "a name leaves the tag")
            try await bench.cache.nameTitle(of: bench.cache.resource(for: b, partition: "ann"), name: "Ann's")
            #expect(await downloads.list().map(\.name) == ["Ann's", "Orlok"])
            try await bench.reopened { cache async throws in
                let downloads = cache.downloads
                #expect(await downloads.list().map(\.name) == ["Ann's", "Orlok"])
                #expect(await downloads[a]?.name == "Orlok")
                #expect(await downloads[b] == nil, "that of a partition is another one")
                #expect(await downloads[b, partition: "ann"]?.name == "Ann's")
                try await downloads.rename(a, to: "Nosferatu")
                #expect(await downloads[a]?.name == "Nosferatu")
                let renamed = try await cache.titles().first { $0.name == "Nosferatu" }
                #expect(renamed?.tag == "films", "a name leaves the tag")
                try await downloads.rename(a, to: "Orlok")
                #expect(await downloads[a]?.isDone == false)
                #expect(await downloads[a].flatMap { URL($0.url) } == a)
                let isSeen = Promise<Void>()
                let names = Task {
                    var names: [String?] = []
                    for await download in downloads.updates(of: a, every: .zero) {
                        isSeen.fulfill()
                        names.append(download?.name)
                        if download == nil { return names }
                    }
                    return names
                }
                await isSeen.value
                try await downloads.removeAll(partition: "eve")
                #expect(await downloads.list().count == 2)
                try await downloads.removeAll(partition: "ann")
                #expect(await downloads.list().map(\.name) == ["Orlok"])
                try await downloads.removeAll()
                #expect(await downloads.list().isEmpty)
                let seen = await names.value
                #expect(seen.first == "Orlok" && seen.last == .some(nil))
            }
        }
    }

    @Test func aNameThatCannotBeRecordedIsRefusedBeforeAnythingIsFetched() async throws {
        try await Self.run(["/a"]) { bench, files in
            let error = await #expect(throws: RepriseError.self) {
                try await bench.cache.downloads.add(files[0], name: "a\nb")
            }
            #expect(error?.code == .invalidArgument)
            #expect(await bench.cache.downloads.list().isEmpty)
            let url = try #require(URL(string: "ftp://example.com/a"))
            let other = await #expect(throws: RepriseError.self) { try await bench.cache.downloads.add(url) }
            #expect(other?.code == .invalidURL)
        }
    }

    @Test func allArePausedAndAllGoOn() async throws {
        let names = (0..<20).map { "/\($0)" }
        try await Self.run(names) { bench, files in
            let downloads = bench.cache.downloads
            for file in files { try await downloads.add(file) }
            await bench.origin.waitUntil { $0["/0"].bodyBytesSent >= 100_000 && $0["/1"].bodyBytesSent >= 100_000 }
            try await downloads.pauseAll()
            #expect(Set(await Self.states(downloads).values) == ["paused"])
            await eventually { bench.cache.isIdle }
            #expect(
                names.filter { bench.origin.snapshot[$0].requestCount > 0 } == ["/0", "/1"], "no other one started")
            try await downloads.resumeAll()
            let states = await Self.states(downloads)
            #expect(states["0"] == "running" && states["1"] == "running" && states["2"] == "queued")
        }
    }

    @Test func oneIsPausedAndGoesOnWithWhatItHas() async throws {
        try await Self.run(["/a", "/b", "/c"]) { bench, files in
            for file in files { try await bench.cache.downloads.add(file) }
            await bench.origin.waitUntil { $0["/a"].bodyBytesSent >= 100_000 && $0["/b"].bodyBytesSent >= 100_000 }
            #expect(await Self.states(bench.cache.downloads) == ["a": "running", "b": "running", "c": "queued"])
            await eventually { await files[0].storedProgress().ranges.byteCount >= 100_000 }
            try await bench.cache.downloads.pause(files[0].key)
            await Self.reach(["a": "paused", "b": "running", "c": "running"], bench.cache)
            #expect(try await bench.cache.retention(of: files[0]) == .download, "its bytes are kept")
            for name in ["/a", "/b", "/c"] { bench.origin.release(name) }
            await Self.reach(["a": "paused", "b": "done", "c": "done"], bench.cache)
            try await bench.cache.downloads.resume(files[0].key)
            await Self.reach(["a": "done"], bench.cache)
            #expect(Self.goesOn(bench.origin.snapshot["/a"]))
            let list = await bench.cache.downloads.list()
            #expect(list.map(\.storedBytes) == Array(repeating: Self.length, count: 3))
            #expect(list.allSatisfy { $0.fraction == 1 && $0.completeLength == Self.length })
            #expect(list.allSatisfy { $0.bytesPerSecond == nil })
        }
    }

    @Test("order, pauses and network policies are there after a restart")
    func restart() async throws {
        try await Self.run(["/a", "/b", "/c", "/d"]) { bench, files in
            let downloads = bench.cache.downloads
            for var file in files {
                if file.url.lastPathComponent == "d" { file.networkPolicy = .inexpensive }
                try await downloads.add(file)
            }
            try await downloads.move(files[3].key, before: files[0].key)
            try await downloads.pause(files[1].key)
            await Self.reach(["b": "paused"], bench.cache)
            let before = await downloads.list()
            #expect(before.map(\.url.lastPathComponent) == ["d", "a", "b", "c"])
            try await bench.reopened(configure: { $0.resumesDownloads = false }) { cache async throws in
                let list = await cache.downloads.list()
                #expect(list.map(\.key) == before.map(\.key))
                #expect(list.map(\.networkPolicy) == [.inexpensive, .any, .any, .any])
                #expect(
                    await Self.states(cache.downloads) == ["a": "queued", "b": "paused", "c": "queued", "d": "queued"])
            }
        }
    }

    @Test func itGoesOnAfterARestart() async throws {
        try await Self.run(["/a", "/b"]) { bench, files in
            for file in files { try await bench.cache.downloads.add(file) }
            await eventually { await files[0].storedProgress().ranges.byteCount >= 100_000 }
            try await bench.cache.downloads.pause(files[1].key)
            bench.origin.release("/a")
            try await bench.reopened { cache async throws in
                await Self.reach(["a": "done", "b": "paused"], cache)
                #expect(Self.goesOn(bench.origin.snapshot["/a"]))
            }
        }
    }

    /// A client behind which the network can go away.
    private final class Network: Origin {
        private let client: NIOOrigin
        private let failure = Mutex<RepriseError?>(nil)
        private let policies = Mutex<[NetworkPolicy]>([])

        init(_ client: NIOOrigin) { self.client = client }

        var seen: [NetworkPolicy] { policies.withLock { $0 } }

        func fail(with error: RepriseError?) { failure.withLock { $0 = error } }

        func send(_ request: OriginRequest) async throws -> OriginResponse {
            policies.withLock { $0.append(request.networkPolicy) }
            if let error = failure.withLock({ $0 }) { throw error }
            return try await client.send(request)
        }
    }

    @Test("without a network it waits, and goes on by itself; the event is told once")
    func waitingForNetwork() async throws {
        let clock = ShiftableClock()
        try await Bench.run { bench async throws in
            bench.publish("/a", length: Self.length)
            let network = Network(bench.client)
            network.fail(with: RepriseError(.networkUnavailable, "There is no Wi-Fi."))
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            var configuration = MediaCache.Configuration()
            configuration.clock = clock.cacheClock
            let cache = try await MediaCache.open(
                directory: directory.path, origin: network, configuration: configuration)
            let log = EventLog(cache)
            var file = try cache.resource(for: bench.origin.url("/a"))
            file.networkPolicy = .inexpensive
            try await cache.downloads.add(file)
            await Self.reach(["a": "waiting"], cache)
            let list = await cache.downloads.list()
            guard case .waiting(.network, let error)? = list.first?.state else { throw Missing() }
            #expect(error.code == .networkUnavailable && list.first?.state.error != nil)
            // A wait may begin after the clock was shifted.
            await eventually {
                clock.shift(by: .seconds(5))
                return network.seen.count >= 2
            }
            network.fail(with: nil)
            await eventually {
                clock.shift(by: .seconds(300))
                return await Self.states(cache.downloads) == ["a": "done"]
            }
            #expect(network.seen.allSatisfy { $0 == .inexpensive })
            await cache.close()
            let ends = await log.all().filter { if case .downloadEnded = $0 { true } else { false } }
            #expect(ends.count == 2)
        }
    }

    private struct Missing: Error {}

    @Test("with a refused token it waits, and goes on when it is added with another one")
    func waitingForAuthorization() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: Self.length) { $0.status = 401 }
            let old = try bench.cache.resource(for: bench.origin.url("/a"), fields: [.authorization: "Bearer old"])
            try await bench.cache.downloads.add(old)
            await Self.reach(["a": "waiting"], bench.cache)
            guard case .waiting(.authorization, _)? = await bench.cache.downloads.list().first?.state else {
                throw Missing()
            }
            bench.publish("/a", length: Self.length)
            let new = try bench.cache.resource(for: bench.origin.url("/a"), fields: [.authorization: "Bearer new"])
            try await bench.cache.downloads.add(new)
            await Self.reach(["a": "done"], bench.cache)
        }
    }

    @Test("what is larger than the limit fails, says so, and goes on under another limit")
    func largerThanTheLimit() async throws {
        try await Bench.run(configure: { $0.limit = 200_000 }) { bench async throws in
            bench.publish("/a", length: Self.length)
            try await bench.cache.downloads.add(try bench.cache.resource(for: bench.origin.url("/a")))
            await Self.reach(["a": "failed"], bench.cache)
            #expect(bench.origin.snapshot.bytesSentMoreThanOnce == 0)
            let error = try #require(await bench.cache.downloads.list().first?.state.error)
            #expect(error.code == .storageFull)
            #expect(error.obstacle == .largerThanLimit(length: Self.length, limit: 200_000))
            try await bench.cache.setLimit(10_000_000)
            await Self.reach(["a": "done"], bench.cache)
        }
    }

    @Test(
        "on a disk that is full a download waits; on one that is too small it fails, and says so",
        arguments: [(300_000_000, true), (200_100_000, false), (100_000_000, false)] as [(Int64, Bool)])
    func disk(capacity: Int64, isLargeEnough: Bool) async throws {
        let disk = FaultyDisk()
        let floor: Int64 = 200_000_000
        disk.setCapacity(capacity)
        disk.setFreeBytes { min(capacity, floor + 50_000) }
        try await Bench.run(configure: {
            $0.fileSystem = disk
            $0.minimumFree = floor
        }) { bench async throws in
            bench.publish("/a", length: Self.length)
            let file = try bench.cache.resource(for: bench.origin.url("/a"))
            try await bench.cache.downloads.add(file)
            await Self.reach(["a": isLargeEnough ? "waiting" : "failed"], bench.cache)
            let state = try #require(await bench.cache.downloads.list().first?.state)
            let obstacle = try #require(state.error?.obstacle)
            switch (state, obstacle) {
            case (.waiting(.space, _), .disk(Self.length, floor + 50_000, floor)): #expect(isLargeEnough)
            case (.failed, .largerThanDisk(let length, capacity, floor)):
                // Where there is room for no byte, the origin is not asked how many there are.
                #expect(length == (capacity > floor ? Self.length : nil) && !isLargeEnough)
            default: Issue.record("\(state)")
            }
            disk.setCapacity(nil)
            disk.setFreeBytes(nil)
            try await bench.cache.downloads.resume(file.key)
            await Self.reach(["a": "done"], bench.cache)
        }
    }

    @Test("a limit that others fill is waited for")
    func waitingForSpace() async throws {
        try await Bench.run(configure: { $0.limit = 500_000 }) { bench async throws in
            for name in ["/a", "/b"] { bench.publish(name, length: Self.length) }
            let other = try bench.cache.resource(for: bench.origin.url("/b"))
            try await bench.cache.downloads.add(other)
            await Self.reach(["b": "done"], bench.cache)
            try await bench.cache.downloads.add(try bench.cache.resource(for: bench.origin.url("/a")))
            await Self.reach(["a": "waiting"], bench.cache)
            guard case .waiting(.space, let error)? = await bench.cache.downloads.list().last?.state else {
                throw Missing()
            }
            #expect(error.code == .storageFull)
            try await bench.cache.downloads.remove(other.key)
            await Self.reach(["a": "done"], bench.cache)
        }
    }

    @Test func whatIsNotThereFailsUntilItIsResumed() async throws {
        try await Bench.run { bench async throws in
            let file = try bench.cache.resource(for: bench.origin.url("/a"))
            try await bench.cache.downloads.add(file)
            await Self.reach(["a": "failed"], bench.cache)
            bench.publish("/a", length: Self.length)
            // It is known for a while that there is nothing.
            await eventually {
                try? await bench.cache.downloads.resume(file.key)
                return await Self.states(bench.cache.downloads) == ["a": "done"]
            }
        }
    }

    @Test func aRemovedOneIsGoneWithItsBytes() async throws {
        try await Self.run(["/a", "/b"]) { bench, files in
            for file in files { try await bench.cache.downloads.add(file) }
            await eventually { await files[0].storedProgress().ranges.byteCount >= 100_000 }
            await eventually { await files[1].storedProgress().ranges.byteCount >= 100_000 }
            #expect(try await bench.cache.downloads.remove(files[0].key) > 0)
            #expect(await Self.states(bench.cache.downloads) == ["b": "running"])
            try await bench.cache.retain(files[1], as: .cached)
            #expect(await bench.cache.downloads.list().isEmpty)
            for name in ["/a", "/b"] { bench.origin.release(name) }
            await bench.cache.becomeIdle()
            #expect(await files[0].storedProgress().ranges.isEmpty)
            #expect(await !files[1].storedProgress().ranges.isEmpty, "kept like others")
        }
    }

    @Test("an entry that is removed under a download is not fetched again")
    func aRemovedEntryIsNoDownload() async throws {
        try await Self.run(["/a"]) { bench, files in
            try await bench.cache.downloads.add(files[0])
            await eventually { await files[0].storedProgress().ranges.byteCount >= 100_000 }
            try await bench.cache.remove(files[0].key)
            #expect(await bench.cache.downloads.list().isEmpty)
            bench.origin.release("/a")
            await bench.cache.becomeIdle()
            #expect(try await bench.cache.entries().isEmpty)
        }
    }

    @Test("pausing a download that is done changes nothing, also for the next process")
    func pausedWhenDone() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: Self.length)
            let file = try bench.cache.resource(for: bench.origin.url("/a"))
            try await bench.cache.downloads.add(file)
            await Self.reach(["a": "done"], bench.cache)
            try await bench.cache.downloads.pause(file.key)
            for file in DiskUse.mediaFiles(of: bench.directory.path) { #expect(truncate(file, 100_000) == 0) }
            _ = try await file.read(200_000..<200_001).collect()
            await bench.cache.becomeIdle()
            try await bench.reopened { cache async throws in
                await Self.reach(["a": "done"], cache)
                #expect(try await cache.entries().map(\.storedBytes) == [Self.length])
            }
        }
    }

    @Test func theRateIsThatOfTheNetwork() async throws {
        let clock = ShiftableClock()
        try await Self.run(["/a"], configure: { $0.clock = clock.cacheClock }) { bench, files in
            try await bench.cache.downloads.add(files[0])
            await eventually { await files[0].storedProgress().ranges.byteCount >= 100_000 }
            clock.shift(by: .seconds(1))
            await eventually { (await bench.cache.downloads.list().first?.bytesPerSecond ?? 0) > 0 }
            clock.shift(by: .seconds(60))
            await eventually { (await bench.cache.downloads.list().first?.bytesPerSecond ?? 1) < 10_000 }
            bench.origin.release("/a")
            await Self.reach(["a": "done"], bench.cache)
        }
    }

    @Test("a download that is asked for once more asks the origin, whatever it refused a moment ago")
    func mendedOrigin() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: Self.length) { $0.status = 404 }
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            try await bench.cache.downloads.add(resource)
            await Self.reach(["a": "failed"], bench.cache)
            bench.publish("/a", length: Self.length)
            try await bench.cache.downloads.add(resource)
            await Self.reach(["a": "done"], bench.cache)
        }
    }

    @Test func updatesEndWithTheCache() async throws {
        try await Bench.run { bench async throws in
            let updates = Task {
                var count = 0
                for await _ in bench.cache.downloads.updates(every: .zero) { count += 1 }
                return count
            }
            await bench.cache.close()
            _ = await updates.value
        }
    }
}
