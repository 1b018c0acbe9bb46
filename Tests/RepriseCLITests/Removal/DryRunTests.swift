import Foundation
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// What a removal says that it would do, compared with what it does.
@Suite(.limit(minutes: 3)) struct DryRunTests {
    /// What a cache has, as far as a removal may change it.
    private struct Content: Equatable {
        var files: [String: Int64] = [:]
        var titles: [String] = []
        var pins: [String] = []

        init(_ cache: MediaCache) async throws {
            for entry in try await cache.entries() {
                files[entry.key.text] = entry.storedBytes
                if entry.retention != .cached { pins.append("\(entry.url)") }
            }
            titles = try await cache.titles().map { "\($0.url) \($0.name ?? "") \($0.tag ?? "")" }.sorted()
            pins += try await cache.awaitedEntries().map { "\($0.url)" }
            pins.sort()
        }
    }

    private static let streams = ["/s0/list", "/s1/list", "/s2/list"]

    /// Streams that share files, files, a file with variants, pins, downloads' names and tags, as `random` has it.
    private static func fill(_ bench: Bench, _ clock: ShiftableClock, _ random: inout SeededGenerator) async throws {
        func read(_ path: String, of title: String? = nil) async throws {
            clock.shift(by: .seconds(60))
            bench.publish(path, length: Int64.random(in: 1000...40_000, using: &random))
            var resource = try bench.cache.resource(for: bench.origin.url(path))
            if let title {
                let first = try bench.cache.resource(for: bench.origin.url(title))
                resource.titles = [TitleReference(key: first.key, url: first.url)]
            }
            _ = try await resource.read().drain()
        }
        for (number, stream) in streams.enumerated() {
            try await read(stream, of: stream)
            for file in 0..<Int.random(in: 0...3, using: &random) {
                try await read("/s\(number)/\(file).ts", of: stream)
            }
            if Bool.random(using: &random) { try await read("/shared/a.ts", of: stream) }
            if Bool.random(using: &random) { try await read("/s0/\(number).m4s", of: stream) }
        }
        for name in ["/films/a.mp4", "/films/b.mp4?key=1", "/films/b.mp4?key=2", "/films2/c.mp4"] {
            try await read(name)
        }
        let urls = streams + ["/films/a.mp4", "/films/b.mp4?key=1", "/films2/c.mp4", "/films/none.mp4", "/shared/a.ts"]
        for path in urls {
            let resource = try bench.cache.resource(for: bench.origin.url(path))
            if Int.random(in: 0..<4, using: &random) == 0 {
                try await bench.cache.retain(resource, as: .pinned)
            }
            if Int.random(in: 0..<3, using: &random) == 0 {
                try await bench.cache.nameTitle(
                    of: resource, name: "Name", tag: ["news", "old"].randomElement(using: &random))
            }
        }
        await bench.cache.becomeIdle()
    }

    private static func run(
        seed: UInt64, _ body: (Bench, ShiftableClock, inout SeededGenerator) async throws -> Void
    ) async throws {
        let clock = ShiftableClock()
        var random = SeededGenerator(seed: seed)
        try await Bench.run(configure: { $0.clock = clock.cacheClock }) { bench async throws in
            try await fill(bench, clock, &random)
            try await body(bench, clock, &random)
        }
    }

    private static func removal(_ bench: Bench, _ random: inout SeededGenerator) -> RemoveOperation {
        let prefixes = ["/films", "/films/", "/s0", "/s1/list", "/shared", "/"]
        var operation = RemoveOperation()
        switch Int.random(in: 0..<7, using: &random) {
        case 0: operation.all = true
        case 1: operation.host = "127.0.0.1"
        case 2: operation.prefix = bench.origin.url(prefixes.randomElement(using: &random) ?? "/")
        case 3: operation.tag = "news"
        case 4: operation.olderThan = Int64.random(in: 1...1200, using: &random)
        case 5:
            operation.prefix = bench.origin.url(prefixes.randomElement(using: &random) ?? "/")
            operation.olderThan = Int64.random(in: 1...1200, using: &random)
        default:
            let none = "/films/none.mp4"
            let paths =
                (streams + ["/films/a.mp4", "/films/b.mp4?key=1", "/shared/a.ts", "/s0/0.ts", none])
                .filter { _ in Bool.random(using: &random) }
            // An empty list is refused.
            operation.urls = (paths.isEmpty ? [none] : paths).map { bench.origin.url($0) }
        }
        return operation
    }

    @Test("remove does what its dry run says, which changes nothing", arguments: 0..<24 as Range<UInt64>)
    func removal(seed: UInt64) async throws {
        try await Self.run(seed: seed) { bench, _, random async throws in
            var operation = Self.removal(bench, &random)
            let before = try await Content(bench.cache)
            operation.dry = true
            let said = try await operation.run(in: bench.cache) { _ in }
            #expect(try await Content(bench.cache) == before)
            operation.dry = nil
            let done = try await operation.run(in: bench.cache) { _ in }
            let after = try await Content(bench.cache)
            #expect(said.entries == done.entries && said.freedBytes == done.freedBytes, "\(operation)")
            #expect(said.pins == done.pins && said.missing == done.missing && done.problem == nil)
            // What is gone by the list, too.
            let gone = before.files.filter { after.files[$0.key] == nil }
            #expect(said.entries == gone.count && said.freedBytes == gone.values.reduce(0, +), "\(operation)")
            let told = try #require(said.dry)
            #expect(done.dry == nil && told.others == 0)
            let titles = try before.titles.filter { !after.titles.contains($0) }
                .map { try ResourceURL(String($0.prefix { $0 != " " })).redacted }
            #expect(Set(titles).subtracting(told.items.map(\.url)).isEmpty, "\(operation): \(titles) \(told.items)")
            #expect(told.items.allSatisfy { !$0.url.contains("key=") })
        }
    }

    @Test("prune does what its dry run says, which changes nothing", arguments: 0..<24 as Range<UInt64>)
    func pruning(seed: UInt64) async throws {
        try await Self.run(seed: seed) { bench, _, random async throws in
            var operation = PruneOperation(
                size: Bool.random(using: &random) ? Int64.random(in: 0...200_000, using: &random) : nil,
                olderThan: Int64.random(in: 1...1500, using: &random),
                tag: Int.random(in: 0..<3, using: &random) == 0 ? "news" : nil, dry: true)
            let before = try await Content(bench.cache)
            let said = try await operation.run(in: bench.cache) { _ in }
            #expect(try await Content(bench.cache) == before)
            operation.dry = nil
            let done = try await operation.run(in: bench.cache) { _ in }
            let after = try await Content(bench.cache)
            #expect(said.freedBytes == done.freedBytes && said.leftBytes == done.leftBytes, "\(operation)")
            let told = try #require(said.dry)
            if operation.tag == nil {
                let gone = before.files.keys.filter { after.files[$0] == nil }
                let urls = try gone.map { try ResourceURL($0).redacted }
                #expect(told.items.map(\.url).sorted() == urls.sorted(), "\(operation)")
            } else {
                #expect(told.items.isEmpty == (done.freedBytes == 0))
            }
        }
    }

    @Test("What is being read stays, and the dry run of prune says so") func inUse() async throws {
        try await Bench.run { bench async throws in
            for name in ["/a.mp4", "/b.mp4"] {
                bench.publish(name, length: 40_000)
                _ = try await bench.bytes(name)
            }
            let read = try await bench.cache.resource(for: bench.origin.url("/a.mp4")).read()
            let operation = PruneOperation(size: 0, olderThan: nil, tag: nil, dry: true)
            let said = try await operation.run(in: bench.cache) { _ in }
            #expect(said.dry?.items.map(\.url) == [bench.origin.url("/b.mp4")])
            #expect(said.leftBytes == said.freedBytes)
            withExtendedLifetime(read) {}
        }
    }

    @Test("A removal that does not say what, or says it twice, is refused and removes nothing") func vague()
        async throws
    {
        try await Bench.run { bench async throws in
            bench.publish("/a.mp4", length: 1000)
            let url = bench.origin.url("/a.mp4")
            _ = try await bench.bytes("/a.mp4")
            for operation in [
                RemoveOperation(), RemoveOperation(all: false), RemoveOperation(dry: true),
                RemoveOperation(names: Names()), RemoveOperation(urls: []), RemoveOperation(urls: [], dry: true),
                RemoveOperation(urls: [url], all: true), RemoveOperation(urls: [url], host: "127.0.0.1"),
                RemoveOperation(host: "127.0.0.1", all: true), RemoveOperation(host: ""), RemoveOperation(prefix: ""),
                RemoveOperation(tag: ""), RemoveOperation(olderThan: 0),
            ] {
                let error = await #expect(throws: RepriseError.self, "\(operation)") {
                    try await operation.run(in: bench.cache) { _ in }
                }
                #expect(error.map { [.invalidArgument, .invalidURL].contains($0.code) } == true)
            }
            #expect(try await bench.cache.entries().count == 1)
        }
    }

    @Test("A thousand are named, of more the number is told") func longLists() {
        let items = (0..<1234).map { DryRun.Item(url: "https://a.example/\($0)") }
        let dry = DryRun(items)
        #expect(dry.items == Array(items.prefix(1000)) && dry.others == 234)
    }
}
