import Foundation
import Reprise
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// How much of the index is read for one title: as much among many titles as among few.
@Suite(.limit(minutes: 3)) struct LookUpCostTests {
    private static let stream = "/show/index.m3u8"

    /// A stream of three segments of which two are stored, a file, and `others` streams and files that are pinned.
    private static func fill(_ bench: Bench, others: Int) async throws {
        func publish(_ folder: String) {
            let lines = (0..<3).map { "#EXTINF:4,\n\($0).ts\n" }.joined()
            let list = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-PLAYLIST-TYPE:VOD\n\(lines)#EXT-X-ENDLIST\n"
            bench.origin.set(
                TestOrigin.Resource(.bytes(Array(list.utf8)), mediaType: "application/vnd.apple.mpegurl"),
                at: "\(folder)/index.m3u8")
            for segment in 0..<3 { bench.publish("\(folder)/\(segment).ts", length: 1000, type: "video/mp2t") }
        }
        func read(_ path: String, of title: String?) async throws {
            var resource = try bench.cache.resource(for: bench.origin.url(path))
            let first = try title.map { try bench.cache.resource(for: bench.origin.url($0)) }
            if let first { resource.titles = [TitleReference(key: first.key, url: first.url)] }
            _ = try await resource.read().drain()
        }
        for folder in ["/show"] + (0..<others).map({ "/other\($0)" }) {
            publish(folder)
            for name in ["index.m3u8", "0.ts", "1.ts"] {
                try await read("\(folder)/\(name)", of: "\(folder)/index.m3u8")
            }
            bench.publish("\(folder)/film.mp4", length: 1000)
            try await read("\(folder)/film.mp4", of: nil)
            guard folder != "/show" else { continue }
            for name in ["index.m3u8", "film.mp4"] {
                let resource = try bench.cache.resource(for: bench.origin.url("\(folder)/\(name)"))
                try await bench.cache.retain(resource, as: .pinned)
            }
        }
        await bench.cache.becomeIdle()
    }

    /// What `body` reads of the index of a cache with so many other titles.
    private static func cost(others: Int, _ body: @escaping (Bench) async throws -> Void) async throws -> Int {
        let (cost, _) = try await costAndLeft(others: others, body)
        return cost
    }

    private static func costAndLeft(
        others: Int, _ body: @escaping (Bench) async throws -> Void
    ) async throws -> (cost: Int, left: [String]) {
        let clock = ShiftableClock()
        var (cost, left) = (0, [String]())
        try await Bench.run(configure: {
            $0.clock = clock.cacheClock
            $0.recordDelay = .seconds(3600)
        }) { bench async throws in
            try await fill(bench, others: others)
            await bench.cache.flush()
            let before = bench.cache.readRecordCount
            try await body(bench)
            cost = bench.cache.readRecordCount - before
            left = try await bench.cache.entries().map(\.url.target).filter { !$0.hasPrefix("/other") }.sorted()
        }
        return (cost, left)
    }

    private static func expectSameCost(_ body: @escaping (Bench) async throws -> Void) async throws {
        let few = try await cost(others: 2, body)
        let many = try await cost(others: 20, body)
        #expect(few == many && few > 0)
    }

    @Test("pin reads the records of one title", arguments: [stream, "/show/film.mp4"])
    func pin(path: String) async throws {
        try await Self.expectSameCost { bench in
            let operation = PinOperation(url: bench.origin.url(path), until: nil, first: nil, names: Names())
            let outcome = try await operation.run(in: bench.cache) { _ in }
            #expect(outcome.storedBytes > 999)
            if path == Self.stream { #expect(outcome.storedBytes > 2000) }
        }
    }

    @Test("title reads the records of one title") func title() async throws {
        try await Self.expectSameCost { bench in
            for (title, tag) in [("A show", nil), (nil, "shows")] as [(String?, String?)] {
                let operation = TitleOperation(
                    url: bench.origin.url(Self.stream), title: title, tag: tag, clear: false, names: Names())
                let outcome = try await operation.run(in: bench.cache) { _ in }
                #expect(outcome.title == "A show" && outcome.tag == tag)
            }
        }
    }

    @Test("remove reads the records of the titles that are named, and removes no others", arguments: [false, true])
    func remove(isDry: Bool) async throws {
        func remove(_ bench: Bench) async throws {
            var operation = RemoveOperation(urls: [Self.stream, "/show/film.mp4"].map { bench.origin.url($0) })
            operation.dry = isDry
            let outcome = try await operation.run(in: bench.cache) { _ in }
            #expect(outcome.entries == 4 && outcome.missing == nil && outcome.pins == 0)
            #expect(outcome.dry?.items.count == (isDry ? 2 : nil))
        }
        let (few, left) = try await Self.costAndLeft(others: 2, remove)
        let (many, _) = try await Self.costAndLeft(others: 20, remove)
        #expect(few == many && few > 0)
        #expect(left.isEmpty == !isDry)
    }

    @Test("what a stopped transfer says is read from the records of one title", arguments: [false, true])
    func share(isDownload: Bool) async throws {
        try await Self.expectSameCost { bench in
            let path = isDownload ? "/show/long.mp4" : Self.stream
            let resource = try bench.cache.resource(for: bench.origin.url(path))
            if isDownload {
                bench.publish(path, length: 3_000_000)
                bench.origin.hold(path, at: 2_000_000)
                try await bench.cache.downloads.add(resource)
                await bench.origin.waitUntil { $0[path].bodyBytesSent >= 2_000_000 }
                try await bench.cache.downloads.pause(resource.key)
                await bench.cache.becomeIdle()
            }
            let inspector = try #require(await bench.cache.inspector())
            let before = bench.cache.readRecordCount
            let stop = StopSignals.StoppedTransfer(
                key: resource.key, name: "show", policy: .url, advice: "Run the same command again.")
            let words = await StoredShare(of: stop, in: inspector).description
            #expect(bench.cache.readRecordCount - before < 20, "as many files as the title has, a few times")
            let expected = isDownload ? " of show is stored (" : "2.12 kB of show and its files are stored."
            #expect(words.contains(expected), "\(words)")
        }
    }

    @Test("a URL whose key is that of a partition is found all the same") func partition() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a.mp4", length: 1000)
            let url = try ResourceURL(bench.origin.url("/a.mp4"))
            _ = try await bench.cache.resource(for: url, partition: "user").read().drain()
            await bench.cache.becomeIdle()
            let operation = RemoveOperation(urls: [url.description, bench.origin.url("/none.mp4")])
            let outcome = try await operation.run(in: bench.cache) { _ in }
            #expect(outcome.entries == 1 && outcome.missing == bench.origin.url("/none.mp4"))
            #expect(try await bench.cache.entries().isEmpty)
        }
    }
}
