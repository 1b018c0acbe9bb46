import Foundation
import ArgumentParser
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// What the options of the command do, beyond being read.
@Suite(.limit(minutes: 2)) struct OptionTests {
    @Test func aSharedCacheKeepsNothingPrivate() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 1000, fields: [.cacheControl: "private, max-age=600"])
            for (options, requests) in [([], 1), (["--shared"], 2)] {
                let directory = try TemporaryDirectory()
                defer { directory.remove() }
                site.origin.resetCounters()
                try await Serving.run(directory, options) { serving async throws in
                    for _ in 0..<2 { #expect(try await serving.get(site.target("/a.mp4")).head.status == 200) }
                }
                #expect(await site.origin.settledSnapshot().requestCount == requests, "\(options)")
            }
        }
    }

    @Test func offlineOnlyWhatIsStoredIsServed() async throws {
        try await Site.run { site async throws in
            for path in ["/a.mp4", "/b.mp4"] { site.publish(path, length: 1000, fields: [.cacheControl: "no-cache"]) }
            try await Serving.run(site.directory) { serving async throws in
                #expect(try await serving.get(site.target("/a.mp4")).head.status == 200)
            }
            let requests = site.origin.snapshot.requestCount
            try await Serving.run(site.directory, ["--offline"]) { serving async throws in
                #expect(try await serving.get(site.target("/a.mp4")).body.count == 1000)
                #expect(try await serving.get(site.target("/b.mp4")).head.status == 504)
            }
            #expect(site.origin.snapshot.requestCount == requests)
        }
    }

    @Test func requestsOverTheLimitOfAHostQueueAndAreAnswered504InTime() async throws {
        try await Site.run { site async throws in
            for path in ["/held.mp4", "/a.mp4"] { site.publish(path, length: 1000) }
            site.origin.holdHeads("/held.mp4")
            let options = ["--connections-per-host", "1", "--queue-timeout", "1s"]
            try await Serving.run(site.directory, options) { serving async throws in
                async let held = serving.get(site.target("/held.mp4"))
                await site.origin.waitUntil { $0.requestCount >= 1 }
                #expect(try await serving.get(site.target("/a.mp4")).head.status == 504)
                site.origin.release("/held.mp4")
                #expect(try await held.head.status == 200)
                #expect(try await serving.get(site.target("/a.mp4")).head.status == 200)
            }
        }
    }

    @Test func aForcedHostIsStoredWhateverItSays() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 1000, fields: [.cacheControl: "no-store"])
            try await Serving.run(site.directory, ["--force-cache", "127.0.0.1"]) { serving async throws in
                for _ in 0..<2 { #expect(try await serving.get(site.target("/a.mp4")).body.count == 1000) }
            }
            #expect(await site.origin.settledSnapshot().requestCount == 1)
        }
    }

    @Test func onlyAllowedHostsAreAsked() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 1000)
            try await Serving.run(site.directory, ["--allow-host", "media.example"]) { serving async throws in
                #expect(try await serving.get(site.target("/a.mp4")).head.status == 403)
            }
            #expect(site.origin.snapshot.requestCount == 0)
            let both = ["--allow-host", "media.example", "--allow-host", "127.0.0.1"]
            try await Serving.run(site.directory, both) { serving async throws in
                #expect(try await serving.get(site.target("/a.mp4")).head.status == 200)
            }
        }
    }

    @Test(arguments: [["--entry-limit", "100kB"], ["--minimum-free", "9000TB"], ["--limit", "100kB"]])
    func whatHasNoRoomStreamsPastTheStore(options: [String]) async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 300_000)
            try await Serving.run(site.directory, options) { serving async throws in
                for _ in 0..<2 {
                    let answer = try await serving.get(site.target("/a.mp4"))
                    #expect(answer.body == TestPattern.bytes(in: 0..<300_000, seed: 1))
                }
            }
            let entries = try Command.json(Entry.self, try await Command.run("list", site.directory, ["--json"]))
            #expect(entries.reduce(0) { $0 + $1.storedBytes } <= 100_000)
        }
    }

    @Test("a file goes on arriving although its player takes nothing", arguments: [true, false])
    func readingAhead(inSection: Bool) async throws {
        let length: Int64 = 24 << 20
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: length)
            let file = site.directory.path + ".conf"
            defer { try? FileManager.default.removeItem(atPath: file) }
            try Data("[host 127.0.0.1]\nread-ahead = all\n".utf8).write(to: URL(fileURLWithPath: file))
            let options = inSection ? ["--config", file, "--read-ahead", "none"] : ["--read-ahead", "all"]
            try await Serving.run(site.directory, options) { serving async throws in
                let player = try RawClient(port: serving.port, receiveBufferSize: 16 << 10)
                try await player.get(site.target("/a.mp4"))
                #expect(try await player.head().status == 200)
                await site.origin.waitUntil { $0.bodyBytesSent >= length }
                player.disconnect()
            }
            #expect(site.origin.snapshot.bytesSentMoreThanOnce == 0)
        }
    }

    @Test("what a section says of a host holds for fetch, too") func sectionsOfHosts() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 1000, fields: [.cacheControl: "no-store"])
            let file = site.directory.path + ".conf"
            defer { try? FileManager.default.removeItem(atPath: file) }
            for (text, isStored) in [("force-cache = no", false), ("force-cache = yes", true)] {
                try Data("[host 127.0.0.1]\n\(text)\n".utf8).write(to: URL(fileURLWithPath: file))
                let outcome = try await Command.run(
                    "fetch", site.directory, ["--config", file, site.origin.url("/a.mp4")])
                let list = try await Command.run("list", site.directory, ["--files"])
                #expect(list.output.contains("a.mp4") == isStored, "\(outcome) \(list)")
            }
        }
    }

    @Test func agesReachTheEngine() throws {
        let options = try StoreOptions.parse(["--maximum-age", "12h", "--drop-query-item", "token"])
        let settings = try options.configuration(try CacheOptions.parse([]))
        #expect(settings.maximumAge == .seconds(12 * 3600))
    }

    @Test(arguments: ["fetch", "pin", "serve"]) func aMaximumAgeOfZeroIsRefused(subcommand: String) async throws {
        let directory = try TemporaryDirectory()
        let urls = subcommand == "serve" ? [] : ["http://127.0.0.1/a.mp4"]
        let outcome = try await Command.run(subcommand, directory, ["--maximum-age", "0s"] + urls)
        #expect(outcome.exit == .status(64), "\(outcome)")
        #expect(outcome.errors.contains("'--maximum-age <time>': it takes a time above zero"), "\(outcome)")
    }

    /// A command asks for it at its end, and one that failed does not.
    @Test func theMaximumAgeCountsFromTheBeginningOfACommand() async throws {
        let clock = ShiftableClock()
        try await Bench.run(configure: { $0.clock = clock.cacheClock }) { bench async throws in
            bench.publish("/old", length: 1000)
            bench.publish("/new", length: 1000)
            _ = try await bench.bytes("/old")
            clock.shift(by: .seconds(100))
            var settings = MediaCache.Configuration()
            settings.maximumAge = .seconds(50)
            let aging = Aging(&settings)
            #expect(settings.maximumAge == nil, "the engine would remove old entries at once")
            _ = try await bench.bytes("/new")
            #expect(try await bench.cache.entries().count == 2)
            await aging.apply(to: bench.cache)
            #expect(try await bench.cache.entries().map(\.url.lastPathComponent) == ["new"])
        }
    }

    @Test(arguments: ["fetch", "download"]) func aCommandThatFailsRemovesNothingOld(subcommand: String) async throws {
        let past = CacheClock(ContinuousClock()) { CacheClock.system.wallClock() - 1_000_000 }
        try await Bench.run(configure: { $0.clock = past }) { bench async throws in
            bench.publish("/old", length: 1000)
            _ = try await bench.bytes("/old")
            await bench.cache.close()
            let options = ["--maximum-age", "10s"]
            func run(_ path: String) async throws -> ChildProcess.Outcome {
                try await Command.run(subcommand, bench.directory, options + [bench.origin.url(path)])
            }
            #expect(try await run("/gone").exit == .status(69))
            func names() async throws -> [String] {
                try Command.json(Entry.self, try await Command.run("list", bench.directory, ["--json"])).map(\.url)
            }
            #expect(try await names() == [bench.origin.url("/old")])
            bench.publish("/new", length: 1000)
            #expect(try await run("/new").exit == .status(0))
            #expect(try await names() == [bench.origin.url("/new")])
        }
    }

    @Test func pruneLooksAtTheAge() async throws {
        let past = CacheClock(ContinuousClock()) { CacheClock.system.wallClock() - 86_400 }
        try await Bench.run(configure: { $0.clock = past }) { bench async throws in
            bench.publish("/a.mp4", length: 1000)
            _ = try await bench.bytes("/a.mp4")
            await bench.cache.close()
            let kept = try await Command.run("prune", bench.directory, ["--older-than", "2d"])
            #expect(kept.exit == .status(0) && kept.output.hasPrefix("Freed 0 B"), "\(kept)")
            // A unit without its number must not empty the cache.
            for time in ["0s", "0h"] {
                let refused = try await Command.run("prune", bench.directory, ["--older-than", time])
                #expect(refused.exit == .status(64), "\(refused)")
            }
            let gone = try await Command.run("prune", bench.directory, ["--older-than", "12h"])
            #expect(gone.exit == .status(0) && gone.output.hasSuffix("; 0 B are left.\n"), "\(gone)")
        }
    }

    @Test func aPinForATimeEndsWithIt() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 100_000)
            try await Command.run("fetch", site.directory, [site.origin.url("/a.mp4")])
            let pin = try await Command.run("pin", site.directory, ["--for", "1h", site.origin.url("/a.mp4")])
            #expect(pin.exit == .status(0), "\(pin)")
            let kept = try await Command.run("prune", site.directory, ["--to", "0"])
            #expect(!kept.output.hasSuffix("; 0 B are left.\n"), "\(kept)")
            // The same pin, as it is an hour later.
            let origin = ScriptedOrigin { _, _ in .init(404) }
            let cache = try await MediaCache.open(directory: site.directory.path, origin: origin)
            try await cache.retain(
                cache.resource(for: site.origin.url("/a.mp4")), as: .pinned(until: Date(timeIntervalSince1970: 1)))
            await cache.close()
            let gone = try await Command.run("prune", site.directory, ["--to", "0"])
            #expect(gone.output.hasSuffix("; 0 B are left.\n"), "\(gone)")
        }
    }
}
