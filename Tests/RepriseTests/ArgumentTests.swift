import ByteRanges
import Foundation
import GRDB
import HTTPSemantics
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Arguments from a program and numbers from the disk: calls that throw never trap.
@Suite(.limit(minutes: 2)) struct ArgumentTests {
    private static func pattern(_ range: Range<Int64>) -> [UInt8] { TestPattern.bytes(in: range, seed: 1) }

    /// What is known of a resource when it is read.
    enum Knowledge: CaseIterable { case unknown, stored, lengthUnknown, notStorable }

    private static let impossible: [RangeSpec] = [
        .bounded(5..<5), .bounded(0..<0), .bounded(-5..<5), .bounded(-5 ..< -1), .bounded(.min ..< .max),
        .bounded(.max ..< .max), .from(-1), .from(.min), .suffix(-1), .suffix(.min),
    ]

    private static func run(
        _ knowledge: Knowledge, _ body: (Bench, MediaResource) async throws -> Void
    ) async throws {
        try await Bench.run(isStoring: knowledge != .notStorable) { bench async throws in
            bench.publish("/a", length: 1000) { $0.framing = knowledge == .lengthUnknown ? .chunked : .contentLength }
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            if knowledge == .stored { _ = try await resource.read().drain() }
            try await body(bench, resource)
        }
    }

    @Test("Ranges that no request can express are refused without asking the origin", arguments: Knowledge.allCases)
    func impossibleRanges(knowledge: Knowledge) async throws {
        try await Self.run(knowledge) { bench, resource in
            let requests = bench.origin.snapshot.requestCount
            for range in Self.impossible {
                let error = await #expect(throws: RepriseError.self) { try await resource.read(range) }
                #expect(error?.code == .invalidArgument, "\(range)")
                #expect(resource.storedInMemory()?.region(range) == nil)
            }
            for amount in [.range(-5..<5), .range(.min ..< .max), .range(-5 ..< -1)] as [PreloadAmount] {
                let error = await #expect(throws: RepriseError.self) { try await resource.preload(amount) }
                #expect(error?.code == .invalidArgument, "\(amount)")
            }
            for amount in [.bytes(0), .bytes(-1), .bytes(.min), .range(5..<5)] as [PreloadAmount] {
                try await resource.preload(amount)
            }
            #expect(bench.origin.snapshot.requestCount == requests)
        }
    }

    @Test("An end beyond the representation is clipped, whatever it is", arguments: Knowledge.allCases)
    func endsBeyondAreClipped(knowledge: Knowledge) async throws {
        try await Self.run(knowledge) { bench, resource in
            for end in [1001, (1 << 53) - 1, 1 << 53, (1 << 53) + 1, .max] as [Int64] {
                #expect(try await resource.read(.bounded(10..<end)).collect() == Self.pattern(10..<1000))
            }
            #expect(try await resource.read(.suffix(.max)).collect() == Self.pattern(0..<1000))
            guard bench.cache.isStoring else { return }
            try await resource.preload(.bytes(.max))
            try await resource.preload(.range(0 ..< .max))
        }
    }

    @Test("A beginning beyond the representation is not satisfiable, whatever it is", arguments: Knowledge.allCases)
    func beginningsBeyondAreNotSatisfiable(knowledge: Knowledge) async throws {
        try await Self.run(knowledge) { _, resource in
            for start in [1000, (1 << 53) - 1, 1 << 53, (1 << 53) + 1, .max - 1] as [Int64] {
                for range in [.from(start), .bounded(start..<start + 1), .bounded(start ..< .max)] as [RangeSpec] {
                    let error = await #expect(throws: RepriseError.self) { try await resource.read(range).drain() }
                    #expect(error?.code == .rangeNotSatisfiable, "\(range)")
                }
            }
        }
    }

    @Test("Two consumers of one read share its pieces", arguments: [true, false])
    func twoConsumersShareARead(isStored: Bool) async throws {
        let length: Int64 = 3_000_000
        try await Bench.run { bench async throws in
            bench.publish("/a", length: length) { if !isStored { $0.fields[.cacheControl] = "no-store" } }
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            bench.origin.hold("/a", at: 1_000_000)
            let read = try await resource.read()
            let counts = try await withThrowingTaskGroup(of: Int64.self) { group in
                for number in 0..<4 {
                    group.addTask {
                        guard number % 2 == 0 else { return try await read.drain() }
                        return Int64(try await read.collect().count)
                    }
                }
                await bench.origin.waitUntil { $0.bodyBytesSent >= 1_000_000 }
                bench.origin.release("/a")
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts.reduce(0, +) == length)
        }
    }

    @Test("A limit of any number opens a cache that serves", arguments: [.min, -1, 0, 1 << 53, .max] as [Int64])
    func anyLimitOpensACache(limit: Int64) async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 100_000)
            // Of unknown length, so that nothing is refused before it arrives.
            bench.publish("/b", length: 100_000) { $0.framing = .chunked }
            _ = try await bench.bytes("/a")
            let configure: (inout MediaCache.Configuration) -> Void = {
                $0.limit = limit
                $0.minimumFree = min(limit, 0)
                $0.entryLimit = limit < 0 ? nil : limit
            }
            try await bench.reopened(configure: configure) { cache async throws in
                for path in ["/a", "/b", "/a"] {
                    let read = try await cache.resource(for: bench.origin.url(path)).read()
                    #expect(try await read.collect() == Self.pattern(0..<100_000))
                }
                await cache.prune(toSize: limit)
            }
        }
    }

    @Test("Surplus after a declared part is never stored")
    func surplusIsNeverStored() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 100_000)
            _ = try await bench.bytes("/a", .bounded(0..<10_000))
            // The part that fills the hole ends before the hole does, but its body does not.
            bench.publish("/a", length: 100_000) {
                $0.framing = .chunked
                $0.surplusBytes = 30_000
                $0.shorterThanAsked = 20_000
            }
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            let read = try await resource.read(.from(0))
            var bytes: [UInt8] = []
            while bytes.count < 80_000, let more = try await read.nextBytes() { bytes += more }
            read.cancel()
            await bench.cache.becomeIdle()
            #expect(bytes == Self.pattern(0..<80_000))
            #expect(await resource.storedProgress().ranges == [0..<80_000])
        }
    }

    @Test(
        "Retry-After is digits, and a day at most: RFC 9110 §10.2.3",
        arguments: [
            ("5", 5), ("0", 0), ("86401", 86_400), ("9223372036854775808", 86_400),
            (String(repeating: "9", count: 100), 86_400), ("-1", nil), ("+5", nil), ("", nil), ("1.5", nil),
        ] as [(String, Int?)])
    func retryAfter(value: String, seconds: Int?) {
        let head = HTTPResponse(status: .serviceUnavailable, headerFields: [.retryAfter: value])
        #expect(OriginRefusal(head: head, body: [], age: nil).retryAfter == seconds.map { .seconds($0) })
    }

    // MARK: - Numbers of the disk

    @Test(
        "A record whose length is beyond 2^53 is ignored",
        arguments: [(1 << 53, true), ((1 << 53) + 1, false), (.max, false)])
    func recordedLengths(length: Int64, isValid: Bool) throws {
        let codec = RecordCodec(vault: nil)
        let record = GenerationRecord(
            id: 1, key: CacheKey("k"), url: try ResourceURL("http://localhost/a"), fields: [:], completeLength: length,
            finalHost: "localhost", requestTime: .max, responseTime: .min)
        let decoded = codec.decode(try codec.encode(record, name: "n"), id: 1, name: "n", salt: [])
        #expect((decoded != nil) == isValid)
        if let decoded { _ = ContentInformation(decoded, freshness: decoded.freshness(ReusePolicy())) }
    }

    @Test("A chunk that reaches beyond its block, or beyond 2^53, is left out")
    func recordedChunks() {
        let last = Int64.largestPosition / ChunkLedger.blockSize - 1
        let end = Chunk(start: .largestPosition - 10, length: 10, checksum: 1)
        #expect([Chunk](packed: [end].packed, block: last) == [end])
        for block in [last + 1, Int64.max / ChunkLedger.blockSize - 2, .max, -1, .min] {
            #expect([Chunk](packed: [end].packed, block: block).isEmpty)
        }
        let crossing = Chunk(start: .largestPosition - 10, length: 11, checksum: 1)
        #expect([Chunk](packed: [crossing].packed, block: last).isEmpty)
        // The result is usable: no later computation overflows.
        let ledger = ChunkLedger(blocks: [last: [end]])
        #expect(ledger.ranges.bounds?.upperBound == .largestPosition)
        #expect(Allocation(ledger.ranges).usage.allocated == Allocation.blockSize)
        var machine = FetchSchedule(completeLength: nil, rangesSupported: true, stored: ledger.ranges)
        _ = machine.addReader(.largestPosition, to: nil)
        let extent = Int64.largestPosition - FetchSchedule.extent ..< .largestPosition
        #expect(machine.extents(freeing: 1, leased: []) == [extent])
    }

    @Test("A file that was extended from outside is still trimmed")
    func veryLongFilesAreTrimmed() async throws {
        let disk = FaultyDisk()
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 100_000)
            _ = try await bench.bytes("/a")
            await bench.cache.close()
            let queue = try DatabaseQueue(path: bench.directory.path(of: "catalogue.sqlite"))
            try await queue.write { try $0.execute(sql: "UPDATE state SET value = 0 WHERE name = 'clean'") }
            try queue.close()
            disk.setOpenFileStatus(FileStatus(size: .max, allocated: 1 << 30))
            try await bench.reopened(configure: { $0.fileSystem = disk }) { cache async throws in
                let read = try await cache.resource(for: bench.origin.url("/a")).read()
                #expect(try await read.collect() == Self.pattern(0..<100_000))
            }
            #expect(bench.origin.snapshot.requestCount == 1)
        }
    }

    @Test(
        "what may be a password is not repeated",
        arguments: [
            "http://us:GEHEIM%40h/x", "http://us:GEHEIM%40h:80/x", "http://us:GEH/EIM@h/x", "http://us:GEH#IM@h/",
        ])
    func passwords(url: String) {
        let error = #expect(throws: RepriseError.self) { try ResourceURL(url) }
        #expect(error?.code == .invalidURL && error?.message.contains("GEH") == false, "\(error as Any)")
    }
}
