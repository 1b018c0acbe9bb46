import ByteRanges
import Foundation
import HTTPSemantics
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Retained entries stay, and a download continues until it is complete.
@Suite(.limit(minutes: 2)) struct RetentionTests {
    private static func names(_ cache: MediaCache) async throws -> Set<String> {
        Set(try await cache.entries().map(\.url.lastPathComponent))
    }

    @Test func aPinnedEntryOutlivesNewerOnes() async throws {
        try await Bench.run(configure: { $0.limit = 1_000_000 }) { bench async throws in
            for name in ["/a", "/b", "/c", "/d"] { bench.publish(name, length: 400_000) }
            _ = try await bench.bytes("/a")
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            try await bench.cache.retain(resource, as: .pinned(until: nil))
            for name in ["/b", "/c", "/d"] { _ = try await bench.bytes(name) }
            #expect(try await Self.names(bench.cache) == ["a", "d"])
            #expect(
                try await bench.cache.entries().first { $0.url.lastPathComponent == "a" }?.retention
                    == .pinned(until: nil))
            try await bench.cache.retain(resource, as: .cached)
            for name in ["/b", "/c"] { _ = try await bench.bytes(name) }
            #expect(try await Self.names(bench.cache) == ["b", "c"])
        }
    }

    @Test("a pin keeps each variant (RFC 9111 §4.1)", arguments: [false, true])
    func aPinKeepsEachVariant(isFirst: Bool) async throws {
        let clock = ShiftableClock()
        try await Bench.run(configure: {
            $0.limit = 1_000_000
            $0.clock = clock.cacheClock
        }) { bench async throws in
            bench.publish("/a", length: 200_000) { $0.fields = [.vary: "Accept-Language"] }
            for name in ["/b", "/c"] { bench.publish(name, length: 400_000) }
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            func pin() async throws {
                try await bench.cache.retain(resource, as: .pinned(until: clock.wallClock + 3600))
            }
            if isFirst { try await pin() }
            for language in ["de", "fr"] {
                _ = try await resource.read(fields: [.acceptLanguage: language]).drain()
            }
            if !isFirst { try await pin() }
            let kept = try await bench.cache.entries()
            #expect(kept.count == 2)
            #expect(kept.allSatisfy { $0.retention == .pinned(until: clock.wallClock + 3600) })
            clock.shift(by: .seconds(10))
            for name in ["/b", "/c"] { _ = try await bench.bytes(name) }
            #expect(try await bench.cache.entries().map(\.url.lastPathComponent).sorted() == ["a", "a", "c"])
            clock.shift(by: .seconds(3600))
            for name in ["/b", "/c"] { _ = try await bench.bytes(name) }
            #expect(try await Self.names(bench.cache) == ["b", "c"])
        }
    }

    @Test("on a full disk a pin gives way as soon as its time is over")
    func anExpiredPinMakesRoom() async throws {
        let clock = ShiftableClock()
        try await Bench.run(configure: { $0.clock = clock.cacheClock }) { bench async throws in
            bench.publish("/a", length: 200_000)
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            _ = try await resource.read().collect()
            await bench.cache.becomeIdle()
            try await bench.cache.retain(resource, as: .pinned(until: clock.wallClock + 60))
            let (engine, store) = (bench.cache.engine, try #require(bench.cache.engine.store))
            await engine.makeRoom(100_000, atLeast: 1, in: store)
            #expect(try await bench.cache.entries().count == 1)
            clock.shift(by: .seconds(61))
            await engine.makeRoom(100_000, atLeast: 1, in: store)
            #expect(try await bench.cache.entries().isEmpty)
        }
    }

    @Test func removingTheLastVariantReleasesTheURL() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 1_000) { $0.fields = [.vary: "Accept-Language"] }
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            for language in ["de", "fr"] {
                _ = try await resource.read(fields: [.acceptLanguage: language]).drain()
            }
            try await bench.cache.retain(resource, as: .pinned(until: nil))
            let keys = try await bench.cache.entries().map(\.key)
            #expect(keys.count == 2)
            try await bench.cache.remove(keys[0])
            #expect(try await bench.cache.retention(of: resource) == .pinned(until: nil))
            try await bench.cache.remove(keys[1])
            #expect(try await bench.cache.retention(of: resource) == .cached)
        }
    }

    @Test func whatIsPinnedAfterItWasChosenToGoStays() async throws {
        try await Bench.run { bench async throws in
            for name in ["/a", "/b"] {
                bench.publish(name, length: 400_000)
                _ = try await bench.bytes(name)
            }
            _ = try await bench.cache.entries()
            let store = try #require(bench.cache.engine.store)
            let chosen = try store.index.entries.candidates(by: .leastRecentlyUsed, limit: 2, offset: 0)
            #expect(chosen.count == 2)
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            try await bench.cache.retain(resource, as: .pinned(until: nil))
            let outcome = try await bench.cache.engine.remove(chosen, force: false, in: store)
            #expect(outcome.removed.compactMap(\.candidate.key?.text) == [bench.origin.url("/b")])
            #expect(outcome.inUse.isEmpty)
            #expect(try await Self.names(bench.cache) == ["a"])
            #expect(bench.cache.storedBytes == 400_000)
            #expect(try await bench.bytes("/a") == TestPattern.bytes(in: 0..<400_000, seed: 1))
            #expect(bench.origin.snapshot.requestCount == 2)
            #expect(try await bench.cache.remove(resource.key) == 400_000)
        }
    }

    @Test func aPinEndsAtItsDate() async throws {
        let clock = ShiftableClock()
        try await Bench.run(configure: {
            $0.limit = 1_000_000
            $0.clock = clock.cacheClock
        }) { bench async throws in
            for name in ["/a", "/b", "/c"] { bench.publish(name, length: 400_000) }
            _ = try await bench.bytes("/a")
            let resource = try bench.cache.resource(for: bench.origin.url("/a"))
            try await bench.cache.retain(resource, as: .pinned(until: clock.wallClock + 3600))
            clock.shift(by: .seconds(10))
            _ = try await bench.bytes("/b")
            _ = try await bench.bytes("/c")
            #expect(try await Self.names(bench.cache) == ["a", "c"])
            clock.shift(by: .seconds(3600))
            _ = try await bench.bytes("/b")
            #expect(try await Self.names(bench.cache) == ["b", "c"])
        }
    }

    @Test func aPinSurvivesTheProcess() async throws {
        try await Bench.run { bench async throws in
            for name in ["/a", "/b", "/c"] { bench.publish(name, length: 400_000) }
            try await bench.cache.retain(try bench.cache.resource(for: bench.origin.url("/a")), as: .pinned(until: nil))
            _ = try await bench.bytes("/a")
            try await bench.reopened(configure: { $0.limit = 1_000_000 }) { cache async throws in
                for name in ["/b", "/c"] {
                    _ = try await cache.resource(for: bench.origin.url(name)).read().drain()
                }
                #expect(try await Self.names(cache) == ["a", "c"])
            }
        }
    }

    @Test func whenPinsLeaveNoRoomTheReasonSaysSo() async throws {
        try await Bench.run(configure: { $0.limit = 1_000_000 }) { bench async throws in
            for name in ["/a", "/b", "/c"] { bench.publish(name, length: 400_000) }
            for name in ["/a", "/b"] {
                _ = try await bench.bytes(name)
                try await bench.cache.retain(
                    try bench.cache.resource(for: bench.origin.url(name)), as: .pinned(until: nil))
            }
            let log = EventLog(bench.cache)
            #expect(try await bench.bytes("/c") == TestPattern.bytes(in: 0..<400_000, seed: 1))
            guard
                case .storeBypassed(_, let reason) = await log.first({
                    if case .storeBypassed = $0 { true } else { false }
                })
            else { return }
            #expect(reason.contains("Pinned"), "\(reason)")
            #expect(try await Self.names(bench.cache).isSuperset(of: ["a", "b"]))
        }
    }

    @Test func pinsOverTheLimitAreRefused() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 400_000)
            _ = try await bench.bytes("/a")
            try await bench.reopened(configure: { $0.limit = 100_000 }) { cache async throws in
                let resource = try cache.resource(for: bench.origin.url("/a"))
                let error = await #expect(throws: RepriseError.self) {
                    try await cache.retain(resource, as: .pinned(until: nil))
                }
                #expect(error?.code == .storageFull)
                // The pin that is refused is the reason.
                let start = "Pinned entries and downloads occupy 401408 of the limit of 100000 bytes"
                #expect(error?.message.hasPrefix(start) == true, "\(String(describing: error))")
                #expect(try await cache.entries().first?.retention == .cached)
            }
        }
    }

    @Test func aDownloadFetchesWhatIsMissingAndNothingElse() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/film", length: 3_000_000)
            _ = try await bench.bytes("/film", .bounded(500_000..<1_000_000))
            let resource = try bench.cache.resource(for: bench.origin.url("/film"))
            let log = EventLog(bench.cache)
            try await bench.cache.retain(resource, as: .download)
            let end = await log.first { if case .downloadEnded = $0 { true } else { false } }
            guard case .downloadEnded(resource.key, nil) = end else {
                Issue.record("\(String(describing: end))")
                return
            }
            #expect(await resource.storedProgress().ranges.contains(0..<3_000_000))
            #expect(await bench.origin.settledSnapshot().bytesSentMoreThanOnce == 0)
        }
    }

    @Test func aDownloadGoesOnAfterARestart() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/film", length: 3_000_000) { $0.stallAfter = 1_000_000 }
            let resource = try bench.cache.resource(for: bench.origin.url("/film"))
            try await bench.cache.retain(resource, as: .download)
            // Joins the download, and ends when this much of it has arrived.
            _ = try await bench.bytes("/film", .bounded(0..<900_000))
            await bench.cache.close()
            bench.publish("/film", length: 3_000_000)
            let before = bench.origin.snapshot.bodyBytesSent
            var configuration = MediaCache.Configuration()
            configuration.retry.firstDelay = .milliseconds(1)
            let again = try await MediaCache.open(
                directory: bench.directory.path, origin: bench.client, configuration: configuration)
            let end = await EventLog(again).first { if case .downloadEnded = $0 { true } else { false } }
            guard case .downloadEnded(_, nil) = end else {
                Issue.record("\(String(describing: end))")
                return
            }
            #expect(try await again.entries().first?.isComplete == true)
            #expect(bench.origin.snapshot.bodyBytesSent - before < 2_500_000)
            await again.close()
        }
    }
}
