import Foundation
import HTTPSemantics
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Downloads of a real cache, of files that change, are refused and stop midway, while a person pauses, moves and
/// removes them and the cache is closed and opened again.
@Suite(.limit(minutes: 3)) struct DownloadStoryTests {
    /// What a person remembers of a download.
    private struct Remembered {
        var isPaused = false
        /// Bytes that were stored of the file as the origin last had it.
        var storedBytes: Int64 = 0
        /// Whether the origin has another file since it was begun.
        var isReplaced = false
    }

    private static let numbers = 0..<5

    @Test("order, pauses and stored bytes are as a naive model remembers them, and all end whole", arguments: 1...16)
    func story(seed: Int) async throws {
        let clock = ShiftableClock()
        try await Bench.run(configure: { Self.configure(&$0, clock) }) { bench async throws in
            var story = Story(seed: UInt64(seed), bench: bench, cache: bench.cache)
            for _ in 0..<4 {
                for _ in 0..<8 { try await story.step() }
                try await story.reopen { Self.configure(&$0, clock) }
            }
            try await story.complete(clock)
            let order = story.order
            await story.close()
            var configuration = MediaCache.Configuration()
            Self.configure(&configuration, clock)
            configuration.reuse.isOffline = true
            configuration.resumesDownloads = false
            let cache = try await MediaCache.open(
                directory: bench.directory.path, origin: bench.client, configuration: configuration)
            for number in order {
                let bytes = try await cache.resource(for: bench.origin.url("/\(number)")).read().collect()
                #expect(story.versions(of: number).contains(bytes), "seed \(seed): file \(number)")
            }
            await cache.close()
        }
    }

    private static func configure(_ configuration: inout MediaCache.Configuration, _ clock: ShiftableClock) {
        configuration.clock = clock.cacheClock
        configuration.retry.firstDelay = .milliseconds(1)
        configuration.retry.maximumDelay = .milliseconds(2)
    }

    private struct Story {
        private let bench: Bench
        private var cache: MediaCache
        private let seed: UInt64
        private var random: SeededGenerator
        private var versions: [Int: UInt64] = [:]
        private(set) var order: [Int] = []
        private var downloads: [Int: Remembered] = [:]

        init(seed: UInt64, bench: Bench, cache: MediaCache) {
            (self.seed, self.bench, self.cache) = (seed, bench, cache)
            random = SeededGenerator(seed: seed)
            for number in DownloadStoryTests.numbers { publish(number) }
        }

        // MARK: - The origin

        private static func length(_ number: Int) -> Int64 { 90_000 + 40_000 * Int64(number) }

        private static func bytes(_ number: Int, version: UInt64) -> [UInt8] {
            TestPattern.bytes(in: 0..<length(number), seed: 100 * UInt64(number) + version)
        }

        /// All files that the origin has had under this number.
        func versions(of number: Int) -> [[UInt8]] {
            (1...(versions[number] ?? 1)).map { Self.bytes(number, version: $0) }
        }

        private mutating func publish(_ number: Int, isNew: Bool = true, status: Int? = nil) {
            let version = (versions[number] ?? 0) + (isNew ? 1 : 0)
            versions[number] = version
            bench.publish(
                "/\(number)", length: Self.length(number), seed: 100 * UInt64(number) + version,
                etag: "\"\(version)\""
            ) { $0.status = status }
        }

        private func resource(_ number: Int) throws -> MediaResource {
            try cache.resource(for: bench.origin.url("/\(number)"))
        }

        // MARK: - Steps

        mutating func step() async throws {
            let number = Int.random(in: DownloadStoryTests.numbers, using: &random)
            let key = try resource(number).key
            switch Int.random(in: 0..<14, using: &random) {
            case 0...3:
                try await cache.downloads.add(try resource(number))
                if downloads[number] == nil { order.append(number) }
                downloads[number, default: Remembered()].isPaused = false
            case 4:
                try await cache.downloads.pause(key)
                downloads[number]?.isPaused = true
            case 5:
                try await cache.downloads.resume(key)
                downloads[number]?.isPaused = false
            case 6:
                try await cache.downloads.remove(key)
                order.removeAll { $0 == number }
                downloads[number] = nil
            case 7:
                let other = Int.random(in: DownloadStoryTests.numbers, using: &random)
                try await cache.downloads.move(key, before: try resource(other).key)
                if number != other, let place = order.firstIndex(of: number) {
                    order.remove(at: place)
                    order.insert(number, at: order.firstIndex(of: other) ?? order.endIndex)
                }
            case 8:
                publish(number)
                downloads[number]?.isReplaced = true
            case 9: publish(number, isNew: false, status: [401, 404, 503].randomElement(using: &random))
            case 10: publish(number, isNew: false)
            case 11: bench.origin.hold("/\(number)", at: Int64.random(in: 1..<Self.length(number), using: &random))
            case 12: bench.origin.release("/\(number)")
            default: await cache.prune(toSize: 0)
            }
            try await check()
        }

        /// Compares what the cache says with what is remembered.
        private mutating func check() async throws {
            let list = await cache.downloads.list()
            let place: Comment = "seed \(seed)"
            try #require(list.map(\.url.lastPathComponent) == order.map { "\($0)" }, place)
            for (number, download) in zip(order, list) {
                guard var remembered = downloads[number] else { continue }
                switch download.state {
                case .paused: try #require(remembered.isPaused, place)
                case .done: try #require(download.storedBytes == Self.length(number), place)
                case .queued, .running, .waiting, .failed: try #require(!remembered.isPaused, place)
                }
                // Nothing stored is lost, unless the origin has another file.
                if !remembered.isReplaced { try #require(download.storedBytes >= remembered.storedBytes, place) }
                remembered.storedBytes = download.storedBytes
                downloads[number] = remembered
            }
        }

        // MARK: - The end

        mutating func reopen(_ configure: (inout MediaCache.Configuration) -> Void) async throws {
            await cache.close()
            var configuration = MediaCache.Configuration()
            configure(&configuration)
            cache = try await MediaCache.open(
                directory: bench.directory.path, origin: bench.client, configuration: configuration)
            try await check()
        }

        /// The origin has everything, and everything is wanted.
        mutating func complete(_ clock: ShiftableClock) async throws {
            for number in DownloadStoryTests.numbers {
                publish(number, isNew: false)
                bench.origin.release("/\(number)")
            }
            await eventually {
                clock.shift(by: .seconds(30))
                for download in await cache.downloads.list() { try? await cache.downloads.resume(download.key) }
                return await cache.downloads.list().allSatisfy { if case .done = $0.state { true } else { false } }
            }
            for number in order { downloads[number]?.isPaused = false }
            try await check()
        }

        func close() async { await cache.close() }
    }
}
