import ByteRanges
import HTTPSemantics
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Reads through the real engine, a real directory, real sockets.
@Suite(.limit(minutes: 2)) struct ReadingTests {
    private static func pattern(_ range: Range<Int64>, seed: UInt64 = 1) -> [UInt8] {
        TestPattern.bytes(in: range, seed: seed)
    }

    @Test func whatWasReadIsStoredAndNotFetchedAgain() async throws {
        try await Bench.run { bench async throws in
            // What depends on the end of the file is answered without a question only while its origin says so.
            bench.origin.set(
                TestOrigin.Resource(
                    .pattern(seed: 1, length: 300_000), mediaType: "video/mp4",
                    fields: [.cacheControl: "max-age=300"]), at: "/a")
            #expect(try await bench.bytes("/a") == Self.pattern(0..<300_000))
            #expect(try await bench.bytes("/a") == Self.pattern(0..<300_000))
            #expect(try await bench.bytes("/a", .bounded(1000..<2000)) == Self.pattern(1000..<2000))
            #expect(try await bench.bytes("/a", .suffix(10)) == Self.pattern(299_990..<300_000))
            let sent = await bench.origin.settledSnapshot()["/a"]
            #expect(sent.bodyBytesSent == 300_000)
            #expect(sent.requestCount == 1)
            let statistics = bench.cache.statistics
            #expect(statistics.bytesFetched == 300_000)
            #expect(statistics.bytesFromOrigin == 300_000)
            #expect(statistics.bytesFromStore == 301_010)
        }
    }

    @Test func onlyTheHolesAreFetched() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 10_000)
            _ = try await bench.bytes("/a", .bounded(200..<500))
            _ = try await bench.bytes("/a", .bounded(700..<800))
            #expect(try await bench.bytes("/a", .bounded(0..<1000)) == Self.pattern(0..<1000))
            let sent = await bench.origin.settledSnapshot()["/a"]
            #expect(
                sent.requests.map(\.range) == [
                    "bytes=200-499", "bytes=700-799", "bytes=0-199", "bytes=500-699", "bytes=800-999",
                ])
            #expect(sent.bytesSentMoreThanOnce == 0)
            #expect(sent.bodyBytesSent == 1000)
        }
    }

    @Test func theFirstRequestIsTheProbe() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 10_000)
            let read = try await bench.cache.resource(for: bench.origin.url("/a")).read(.from(9000))
            #expect(read.information.completeLength == 10_000)
            #expect(read.information.mediaType == "video/mp4")
            #expect(read.information.rangesSupported == true)
            #expect(read.start == 9000)
            #expect(read.end == 10_000)
            #expect(try await read.collect() == Self.pattern(9000..<10_000))
            #expect(bench.origin.snapshot["/a"].requests.map(\.range) == ["bytes=9000-"])
        }
    }

    @Test(arguments: [2, 10, 100]) func readersOfOneColdFileShareOneFetch(readers: Int) async throws {
        let length: Int64 = 64 << 20
        try await Bench.run { bench async throws in
            bench.publish("/film", length: length)
            bench.origin.holdHeads("/film")
            try await withThrowingTaskGroup(of: Int64.self) { group in
                for _ in 0..<readers {
                    group.addTask { try await bench.cache.resource(for: bench.origin.url("/film")).read().drain() }
                }
                await bench.origin.waitUntil { $0.requestCount >= 1 }
                bench.origin.release("/film")
                for try await count in group { #expect(count == length) }
            }
            let sent = await bench.origin.settledSnapshot()["/film"]
            #expect(sent.bodyBytesSent == length)
            #expect(sent.requestCount == 1)
            #expect(bench.cache.statistics.bytesServed == length * Int64(readers))
            #expect(bench.cache.storedBytes == length)
        }
    }

    @Test("two readers of a short file get one response, however far apart they are")
    func shortFile() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/film", length: 200_000)
            bench.origin.hold("/film", at: 40_000)
            let resource = try bench.cache.resource(for: bench.origin.url("/film"))
            async let near = resource.read(.from(2000)).collect()
            await bench.origin.waitUntil { $0["/film"].bodyBytesSent == 38_000 }
            async let far = resource.read(.from(120_000)).collect()
            await eventually {
                bench.cache.waitingReaders(of: bench.origin.url("/film")) == 2
                    || bench.origin.snapshot["/film"].requestCount == 2
            }
            bench.origin.release("/film")
            #expect(try await near == Self.pattern(2000..<200_000))
            #expect(try await far == Self.pattern(120_000..<200_000))
            let sent = await bench.origin.settledSnapshot()["/film"]
            #expect(sent.requestCount == 1)
            #expect(sent.bodyBytesSent == 198_000)
        }
    }

    @Test func aReaderThatStopsReadingStopsTheOriginsSocket() async throws {
        let length: Int64 = 256 << 20
        try await Bench.run(sendBufferSize: 64 << 10) { bench async throws in
            bench.publish("/film", length: length)
            let read = try await bench.cache.resource(for: bench.origin.url("/film")).read()
            let first = try #require(try await read.next())
            let stalled = await bench.origin.settledSnapshot()["/film"].bodyBytesSent
            #expect(stalled < 8 << 20, "\(stalled) bytes were pushed at a reader that took \(first.count)")
            #expect(try await read.drain() == length - Int64(first.count))
            #expect(await bench.origin.settledSnapshot()["/film"].bodyBytesSent == length)
        }
    }

    @Test func cancelingKeepsWhatArrived() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 10 << 20)
            bench.origin.hold("/a", at: 100_000)
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            let read = try await resource.read()
            var got = 0
            while got < 100_000, let piece = try await read.next() { got += piece.count }
            read.cancel()
            await bench.origin.waitUntil { $0.openConnections == 0 }
            bench.origin.release("/a")
            #expect(await resource.storedProgress().ranges.contains(0..<100_000))
            #expect(try await bench.bytes("/a", .bounded(0..<200_000)) == Self.pattern(0..<200_000))
            #expect(bench.origin.snapshot["/a"].bytesSentMoreThanOnce == 0)
        }
    }

    @Test func aBodyShorterThanDeclaredIsResumedFromTheByteReached() async throws {
        try await Bench.run { bench async throws in
            let broken = TestOrigin.Personality { $0.truncateAfter = 150_000 }
            bench.origin.set(
                TestOrigin.Resource(
                    .pattern(seed: 1, length: 500_000), mediaType: "audio/mpeg", etag: "\"v1\"",
                    override: { _, number in number < 3 ? broken : nil }), at: "/a")
            #expect(try await bench.bytes("/a") == Self.pattern(0..<500_000))
            let sent = await bench.origin.settledSnapshot()["/a"]
            #expect(sent.bytesSentMoreThanOnce == 0)
            #expect(sent.requestCount > 1)
            #expect(sent.requests.dropFirst().allSatisfy { $0.fields[.ifRange] == "\"v1\"" })
        }
    }

    @Test func aSingle503IsRetriedSoThatThePlayerNeverSeesIt() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 1000) {
                $0.status = 503
                $0.failFirst = 1
            }
            #expect(try await bench.bytes("/a") == Self.pattern(0..<1000))
        }
    }

    @Test(arguments: [404, 403, 500]) func anErrorPageIsHandedOnAndNeverStored(status: Int) async throws {
        let clock = ShiftableClock()
        try await Bench.run(configure: { $0.clock = clock.cacheClock }) { bench async throws in
            bench.publish("/a", length: 1000) {
                $0.status = status
                $0.statusBody = Array("sorry".utf8)
            }
            let error = await #expect(throws: RepriseError.self) { try await bench.bytes("/a") }
            #expect(error?.code == .originRefused)
            #expect(error?.refusal?.head.status.code == status)
            #expect(error?.refusal?.body == Array("sorry".utf8))
            #expect(bench.cache.storedBytes == 0)
            bench.publish("/a", length: 1000)
            if status != 403 {
                // A player that retries at once does not reach the origin.
                let again = await #expect(throws: RepriseError.self) { try await bench.bytes("/a") }
                #expect(again?.refusal?.age != nil)
                clock.shift(by: .seconds(5))
            }
            #expect(try await bench.bytes("/a") == Self.pattern(0..<1000))
        }
    }

    @Test func noStoreIsStreamedPastTheStore() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 5000) { $0.fields[.cacheControl] = "no-store" }
            let read = try await bench.cache.resource(for: bench.origin.url("/a")).read()
            #expect(read.disposition == .bypass)
            #expect(try await read.collect() == Self.pattern(0..<5000))
            #expect(bench.cache.storedBytes == 0)
            #expect(try await bench.cache.entries().isEmpty)
        }
    }

    @Test func anOriginWithoutRangesFillsFromItsFirstByteAndServesRangesAfterwards() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 400_000) { $0.ignoresRange = true }
            #expect(try await bench.bytes("/a", .bounded(300_000..<300_010)) == Self.pattern(300_000..<300_010))
            #expect(try await bench.bytes("/a", .bounded(5..<10)) == Self.pattern(5..<10))
            #expect(try await bench.bytes("/a") == Self.pattern(0..<400_000))
            #expect(bench.origin.snapshot["/a"].bodyBytesSent <= 800_000)
        }
    }

    @Test func anUnknownLengthStreamsAndIsFixedByTheCleanEnd() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/live", length: 200_000) { $0.framing = .chunked }
            let resource = try bench.cache.resource(for: bench.origin.url("/live"))
            let read = try await resource.read()
            #expect(read.end == nil)
            #expect(try await read.collect() == Self.pattern(0..<200_000))
            _ = try await resource.read(.from(199_999)).collect()
            #expect(resource.storedInMemory()?.information.completeLength == 200_000)
            #expect(bench.origin.snapshot["/live"].requestCount == 1)
        }
    }

    @Test func aFileThatChangedAtTheOriginIsNeverMixed() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 1_000_000, seed: 1, etag: "\"v1\"")
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            _ = try await resource.read(.bounded(0..<100_000)).collect()
            let old = try await resource.read()
            bench.publish("/a", length: 1_000_000, seed: 2, etag: "\"v2\"")
            let error = await #expect(throws: RepriseError.self) { try await old.collect() }
            #expect(error?.code == .validatorChanged)
            #expect(try await bench.bytes("/a") == Self.pattern(0..<1_000_000, seed: 2))
            #expect(try await bench.cache.entries().count == 1)
        }
    }

    @Test func signedURLsShareOneEntry() async throws {
        try await Bench.run(configure: { $0.keyPolicy = .droppingQueryItems(["sig"]) }) { bench async throws in
            bench.publish("/a", length: 1000)
            _ = try await bench.bytes("/a?v=1&sig=abc")
            _ = try await bench.bytes("/a?v=1&sig=def")
            #expect(bench.origin.snapshot.requestCount == 1)
            let keys = try await bench.cache.entries().map(\.key.text)
            #expect(keys == [bench.origin.url("/a?v=1")])
        }
    }

    @Test func fieldsOfTheResourceReachTheOrigin() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 1000)
            let resource = try bench.cache.resource(for: bench.origin.url("/a"), fields: [.authorization: "Bearer x"])
            _ = try await resource.read(.bounded(0..<10)).collect()
            _ = try await resource.read(.bounded(10..<20)).collect()
            #expect(bench.origin.snapshot.requests.allSatisfy { $0.fields[.authorization] == "Bearer x" })
            #expect(bench.origin.snapshot.requests.allSatisfy { $0.fields[.acceptEncoding] == "identity" })
        }
    }

    @Test("a range outside the representation is refused with its length (RFC 9110 §15.5.17)")
    func unsatisfiableRange() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 1000)
            for _ in 0..<2 {
                let error = await #expect(throws: RepriseError.self) { try await bench.bytes("/a", .from(1000)) }
                #expect(error?.code == .rangeNotSatisfiable)
                _ = try await bench.bytes("/a", .bounded(0..<10))
            }
        }
    }

    @Test func eventsTellWhereTheBytesCameFrom() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 1000)
            var events = bench.cache.events().makeAsyncIterator()
            _ = try await bench.bytes("/a", .bounded(0..<400))
            _ = try await bench.bytes("/a")
            var ended: [[Int64]] = []
            while ended.count < 2, let event = await events.next() {
                if case .readEnded(_, let store, let joined, let origin) = event {
                    ended.append([store, joined, origin])
                }
            }
            #expect(ended == [[0, 0, 400], [400, 0, 600]])
        }
    }
}
