import Foundation
import Primitives
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Limits of tags: what goes, what stays, and what is refused.
@Suite(.limit(minutes: 3)) struct TagLimitTests {
    private static let tag = "news"
    /// A block of the file system is 4 KiB: files of whole blocks occupy exactly their length.
    private static let size: Int64 = 102_400

    private static func resource(_ name: String, _ cache: MediaCache, _ bench: Bench) throws -> MediaResource {
        try cache.resource(for: bench.origin.url(name))
    }

    /// Stores a file under `name`, a file of the title `title` if there is one.
    private static func store(
        _ name: String, _ bench: Bench, tag: String? = tag, title: String? = nil, length: Int64 = size
    ) async throws {
        bench.publish(name, length: length)
        let first = try resource(title ?? name, bench.cache, bench)
        if let tag { try await bench.cache.nameTitle(of: first, name: nil, tag: tag) }
        var file = try resource(name, bench.cache, bench)
        if title != nil { file.titles = [TitleReference(key: first.key, url: first.url)] }
        _ = try await file.read().drain()
        await bench.cache.becomeIdle()
    }

    private static func names(_ cache: MediaCache) async throws -> Set<String> {
        Set(try await cache.entries().map(\.url.lastPathComponent))
    }

    private static func tagState(_ cache: MediaCache, _ name: String = tag) async throws -> TitleTag? {
        try await cache.tags().first { $0.name == name }
    }

    private static var encryption: CacheEncryption? {
        KeyFile.key(hexadecimal: String(repeating: "07", count: 32)).map { CacheEncryption(key: $0) }
    }

    /// Runs `body` with a clock that must be moved by hand, so that the order of use is known.
    private static func run(
        _ configure: (inout MediaCache.Configuration) -> Void = { _ in },
        _ body: (Bench, ShiftableClock) async throws -> Void
    ) async throws {
        let clock = ShiftableClock()
        try await Bench.run(configure: {
            $0.clock = clock.cacheClock
            configure(&$0)
        }) { try await body($0, clock) }
    }

    @Test("spellings of a tag that Unicode counts as equal are one tag") func equalSpellings() async throws {
        try await Self.run { bench, _ async throws in
            try await Self.store("/a", bench, tag: "cafe\u{301}")
            try await bench.cache.setLimit(10 * Self.size, forTag: "caf\u{e9}")
            #expect(try await bench.cache.limit(forTag: "cafe\u{301}") == 10 * Self.size)
            let tags = try await bench.cache.tags()
            #expect(tags.count == 1 && tags.first?.titleCount == 1 && tags.first?.limit == 10 * Self.size)
        }
    }

    @Test("a limit evicts the least recently used titles with the tag, and nothing else")
    func evictsByTag() async throws {
        try await Self.run { bench, clock async throws in
            for name in ["/a", "/b", "/c"] {
                try await Self.store(name, bench)
                clock.shift(by: .seconds(60))
            }
            try await Self.store("/other", bench, tag: "films")
            try await Self.store("/plain", bench, tag: nil)
            // The one that was stored first is used last.
            clock.shift(by: .seconds(60))
            _ = try await bench.bytes("/a")
            try await bench.cache.setLimit(2 * Self.size, forTag: Self.tag)
            #expect(try await Self.names(bench.cache) == ["a", "c", "other", "plain"])
            #expect(try await bench.cache.limit(forTag: Self.tag) == 2 * Self.size)
            #expect(try await bench.cache.limit(forTag: "films") == nil)
            let state = try #require(try await Self.tagState(bench.cache))
            #expect(state.titleCount == 3 && state.storedBytes == 2 * Self.size)
            #expect(state.allocatedBytes == 2 * Self.size && state.keptBytes == 0)
        }
    }

    @Test("titles that are stored later are held to the limit, too, also after a restart", arguments: [false, true])
    func heldLater(isSealed: Bool) async throws {
        let encryption = isSealed ? Self.encryption : nil
        try await Self.run({ $0.encryption = encryption }) { bench, clock async throws in
            try await bench.cache.setLimit(3 * Self.size, forTag: Self.tag)
            for name in ["/a", "/b", "/c", "/d"] {
                try await Self.store(name, bench)
                await bench.cache.settleTags()
                clock.shift(by: .seconds(60))
            }
            #expect(try await Self.tagState(bench.cache)?.allocatedBytes ?? .max <= 3 * Self.size)
            #expect(try await !Self.names(bench.cache).contains("a"))
            #expect(try await Self.names(bench.cache).contains("d"))
            try await bench.reopened(configure: {
                $0.encryption = encryption
                $0.clock = clock.cacheClock
            }) { cache async throws in
                #expect(try await cache.limit(forTag: Self.tag) == 3 * Self.size)
                for name in ["/e", "/f"] {
                    bench.publish(name, length: Self.size)
                    clock.shift(by: .seconds(60))
                    let resource = try Self.resource(name, cache, bench)
                    try await cache.nameTitle(of: resource, name: nil, tag: Self.tag)
                    _ = try await resource.read().drain()
                    await cache.becomeIdle()
                    await cache.settleTags()
                }
                #expect(try await Self.tagState(cache)?.allocatedBytes ?? .max <= 3 * Self.size)
                let names = try await Self.names(cache)
                #expect(names.contains("f") && !names.contains("b"))
            }
            let index = try Data(contentsOf: URL(fileURLWithPath: bench.directory.path(of: "catalogue.sqlite")))
            #expect((index.range(of: Data(Self.tag.utf8)) == nil) == isSealed)
        }
    }

    @Test("pinned titles stay; a limit below what is kept is refused, and says so")
    func keptTitles() async throws {
        try await Self.run { bench, clock async throws in
            for name in ["/a", "/b", "/c"] {
                try await Self.store(name, bench)
                clock.shift(by: .seconds(60))
            }
            let first = try Self.resource("/a", bench.cache, bench)
            try await bench.cache.retain(first, as: .pinned)
            try await bench.cache.setLimit(Self.size, forTag: Self.tag)
            #expect(try await Self.names(bench.cache) == ["a"])
            let error = await #expect(throws: RepriseError.self) {
                try await bench.cache.setLimit(Self.size - 1, forTag: Self.tag)
            }
            #expect(error?.code == .storageFull)
            #expect(error?.message.contains(Self.tag) == true && error?.message.contains("\(Self.size)") == true)
            #expect(try await bench.cache.limit(forTag: Self.tag) == Self.size)
            try await bench.cache.retain(first, as: .cached)
            try await bench.cache.setLimit(0, forTag: Self.tag)
            #expect(try await Self.names(bench.cache).isEmpty)
            try await bench.cache.setLimit(nil, forTag: Self.tag)
            #expect(try await bench.cache.limit(forTag: Self.tag) == nil)
        }
    }

    @Test("a pin or a tag that would exceed the limit of the tag is refused, and nothing changes")
    func pinRefused() async throws {
        try await Self.run { bench, _ async throws in
            try await Self.store("/a", bench)
            try await Self.store("/b", bench, tag: nil)
            let (a, b) = (try Self.resource("/a", bench.cache, bench), try Self.resource("/b", bench.cache, bench))
            try await bench.cache.setLimit(Self.size + 4096, forTag: Self.tag)
            try await bench.cache.retain(a, as: .pinned)
            try await bench.cache.retain(b, as: .pinned)
            let naming = await #expect(throws: RepriseError.self) {
                try await bench.cache.nameTitle(of: b, name: nil, tag: Self.tag)
            }
            #expect(naming?.code == .storageFull)
            #expect(try await bench.cache.titles().first { $0.key == b.key }?.tag == nil)
            try await bench.cache.retain(b, as: .cached)
            // Two titles, but the second one is of the same tag and evictable: it goes.
            try await bench.cache.nameTitle(of: b, name: nil, tag: Self.tag)
            #expect(try await Self.names(bench.cache) == ["a"])
            // What is being read stays beyond the limit, and may not stay for good.
            let read = try await b.read()
            #expect(try await read.next() != nil)
            _ = try await b.read().drain()
            await bench.cache.settleTags()
            #expect(try await Self.names(bench.cache) == ["a", "b"])
            let pinning = await #expect(throws: RepriseError.self) { try await bench.cache.retain(b, as: .pinned) }
            #expect(pinning?.code == .storageFull)
            #expect(try await bench.cache.retention(of: b) == .cached)
            read.cancel()
        }
    }

    @Test("files that a title without the tag needs stay, and shared ones go with the title used last")
    func sharedFiles() async throws {
        try await Self.run { bench, clock async throws in
            try await Self.store("/a", bench, title: "/a")
            try await Self.store("/a1", bench, title: "/a")
            try await Self.store("/shared", bench, title: "/a")
            try await Self.store("/free", bench, title: "/a")
            clock.shift(by: .seconds(60))
            try await Self.store("/b", bench, title: "/b")
            try await Self.store("/untagged", bench, tag: nil, title: "/untagged")
            let b = try Self.resource("/b", bench.cache, bench)
            let untagged = try Self.resource("/untagged", bench.cache, bench)
            bench.cache.note(
                [try Self.resource("/shared", bench.cache, bench).key],
                in: TitleReference(key: b.key, url: b.url))
            bench.cache.note(
                [try Self.resource("/free", bench.cache, bench).key],
                in: TitleReference(key: untagged.key, url: untagged.url))
            await bench.cache.settleTags()
            // Title a: a, a1, shared, free; b: b, shared. "free" also belongs to a title without the tag.
            try await bench.cache.setLimit(3 * Self.size, forTag: Self.tag)
            #expect(try await Self.names(bench.cache) == ["b", "shared", "free", "untagged"])
            try await bench.cache.setLimit(Self.size, forTag: Self.tag)
            #expect(try await Self.names(bench.cache) == ["free", "untagged"])
        }
    }

    @Test("a kept beginning of a tagged title stays while the rest goes")
    func keptBeginning() async throws {
        try await Self.run { bench, clock async throws in
            // As long as an extent: what is kept of one occupies all of it.
            let (length, beginning) = (Int64(8 << 20), FetchSchedule.extent)
            bench.publish("/film", length: length)
            let film = try Self.resource("/film", bench.cache, bench)
            try await bench.cache.nameTitle(of: film, name: nil, tag: Self.tag)
            try await bench.cache.retain(film, as: .first(.bytes(beginning)))
            _ = try await film.read().drain()
            await bench.cache.becomeIdle()
            clock.shift(by: .seconds(60))
            try await bench.cache.setLimit(3 << 20, forTag: Self.tag)
            let stored = await film.storedProgress().ranges
            #expect(stored.contains(0..<beginning) && stored.byteCount < length)
            #expect(try await Self.tagState(bench.cache)?.keptBytes == beginning)
            let error = await #expect(throws: RepriseError.self) {
                try await bench.cache.setLimit(beginning - 1, forTag: Self.tag)
            }
            #expect(error?.code == .storageFull)
        }
    }

    @Test("a download larger than the limit of its tag waits for space, says so, and goes on under another limit")
    func downloadBeyondTheLimit() async throws {
        try await Self.run({ $0.recordDelay = .milliseconds(20) }) { bench, _ async throws in
            // What arrives before the tag is looked at stays. The origin is slow, so that this is not everything.
            let length = 6 * Self.size
            bench.publish("/film", length: length) { $0.bytesPerSecond = 200_000 }
            let film = try Self.resource("/film", bench.cache, bench)
            try await bench.cache.nameTitle(of: film, name: nil, tag: Self.tag)
            try await bench.cache.setLimit(Self.size, forTag: Self.tag)
            try await bench.cache.downloads.add(film)
            var reason: RepriseError?
            waiting: for await list in bench.cache.downloads.updates(every: .zero) {
                switch list.first?.state {
                case .waiting(.space, let error):
                    reason = error
                    break waiting
                case .done, .failed: break waiting
                default: continue
                }
            }
            #expect(reason?.code == .storageFull && reason?.message.contains(Self.tag) == true)
            #expect(bench.cache.storedBytes < length)
            try await bench.cache.setLimit(2 * length, forTag: Self.tag)
            for await list in bench.cache.downloads.updates(every: .zero) {
                if case .done? = list.first?.state { break }
            }
            #expect(try await Self.tagState(bench.cache)?.keptBytes == length)
        }
    }

    @Test("a pin that has expired does not keep a download waiting for the space that it kept")
    func expiredPin() async throws {
        try await Self.run { bench, clock async throws in
            try await Self.store("/old", bench)
            let old = try Self.resource("/old", bench.cache, bench)
            try await bench.cache.retain(old, as: .pinned(until: clock.wallClock + 60))
            try await bench.cache.setLimit(Self.size + 4096, forTag: Self.tag)
            clock.shift(by: .seconds(120))
            bench.publish("/new", length: Self.size)
            let new = try Self.resource("/new", bench.cache, bench)
            try await bench.cache.nameTitle(of: new, name: nil, tag: Self.tag)
            try await bench.cache.downloads.add(new)
            var last: Download.State?
            waiting: for await list in bench.cache.downloads.updates(every: .zero) {
                last = list.first?.state
                switch last {
                case .done, .failed, .waiting: break waiting
                default: continue
                }
            }
            if case .done = last {} else { Issue.record("it ended as \(String(describing: last))") }
            try await eventually { try await Self.names(bench.cache) == ["new"] }
        }
    }

    /// What a limit of a tag is compared with.
    enum Keeping: CaseIterable, Sendable {
        case limit, pin, name
    }

    @Test("a pin that has expired counts for nothing when a limit, a pin or a tag is set", arguments: Keeping.allCases)
    func expiredPinCounts(keeping: Keeping) async throws {
        try await Self.run { bench, clock async throws in
            try await Self.store("/old", bench)
            let old = try Self.resource("/old", bench.cache, bench)
            try await bench.cache.setLimit(Self.size, forTag: Self.tag)
            try await bench.cache.retain(old, as: .pinned(until: clock.wallClock + 60))
            try await Self.store("/new", bench, tag: nil)
            let new = try Self.resource("/new", bench.cache, bench)
            if keeping == .name { try await bench.cache.retain(new, as: .pinned) }
            // What is being read stays beyond the limit.
            let read = try await new.read()
            defer { read.cancel() }
            #expect(try await read.next() != nil)
            if keeping == .pin { try await bench.cache.nameTitle(of: new, name: nil, tag: Self.tag) }
            clock.shift(by: .seconds(120))
            switch keeping {
            case .limit: try await bench.cache.setLimit(0, forTag: Self.tag)
            case .pin: try await bench.cache.retain(new, as: .pinned)
            case .name: try await bench.cache.nameTitle(of: new, name: nil, tag: Self.tag)
            }
            let isKept = keeping != .limit
            #expect(try await Self.tagState(bench.cache)?.keptBytes == (isKept ? Self.size : 0))
            #expect(try await bench.cache.retention(of: old) == .cached)
        }
    }

    @Test("a file in play that exceeds the limit of its tag by itself loses extents, not its bytes to the player")
    func inPlay() async throws {
        try await Self.run { bench, _ async throws in
            let length: Int64 = 24 << 20
            bench.publish("/film", length: length, seed: 9)
            let film = try Self.resource("/film", bench.cache, bench)
            try await bench.cache.nameTitle(of: film, name: nil, tag: Self.tag)
            try await bench.cache.setLimit(8 << 20, forTag: Self.tag)
            let read = try await film.read()
            var position: Int64 = 0
            while let piece = try await read.nextBytes() {
                let range = position..<position + Int64(piece.count)
                #expect(piece == TestPattern.bytes(in: range, seed: 9))
                position = range.upperBound
            }
            #expect(position == length)
            await bench.cache.becomeIdle()
            await bench.cache.settleTags()
            #expect(try await Self.tagState(bench.cache)?.allocatedBytes ?? .max <= 8 << 20)
        }
    }

    // MARK: - Against a naive model

    /// What should be left: titles as sets of files with their last uses, without SQL.
    private struct Model {
        struct Entry { var lastUsed: Int; var isPinned = false; var titles: Set<Int> }
        var tags: [Int: String] = [:]
        var entries: [Int: Entry] = [:]

        mutating func hold(_ tag: String, to limit: Int) {
            let tagged = Set(tags.filter { $0.value == tag }.keys)
            func occupied() -> Int { entries.values.count { !$0.titles.isDisjoint(with: tagged) } }
            func lastUse(_ title: Int) -> Int? {
                entries.values.filter { $0.titles.contains(title) }.map(\.lastUsed).max()
            }
            let order = tagged.filter { lastUse($0) != nil }.sorted { (lastUse($0) ?? 0) < (lastUse($1) ?? 0) }
            for (number, title) in order.enumerated() {
                guard occupied() > limit else { return }
                let gone = Set(order[...number])
                let own = entries.filter { _, entry in
                    entry.titles.contains(title) && !entry.isPinned && entry.titles.isSubset(of: gone)
                }.sorted { $0.value.lastUsed < $1.value.lastUsed }
                let isLast = number == order.count - 1
                for (key, _) in own {
                    if isLast, occupied() <= limit { return }
                    entries[key] = nil
                }
            }
        }
    }

    @Test("random titles, uses, pins and limits leave what a naive model leaves", arguments: 1...12)
    func model(seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        try await Self.run { bench, clock async throws in
            let (titleCount, fileCount) = (
                Int.random(in: 1...5, using: &random), Int.random(in: 3...12, using: &random)
            )
            var model = Model()
            func title(_ number: Int) throws -> TitleReference {
                let resource = try Self.resource("/t\(number)", bench.cache, bench)
                return TitleReference(key: resource.key, url: resource.url)
            }
            for number in 0..<titleCount {
                let tag = Bool.random(using: &random) ? Self.tag : Bool.random(using: &random) ? "other" : nil
                model.tags[number] = tag
                if let tag {
                    try await bench.cache.nameTitle(
                        of: try Self.resource("/t\(number)", bench.cache, bench), name: nil, tag: tag)
                }
            }
            var time = 0
            for file in 0..<fileCount {
                time += 1
                clock.shift(by: .seconds(60))
                bench.publish("/f\(file)", length: 4096)
                let titles = Set(
                    (0..<Int.random(in: 1...2, using: &random)).map { _ in
                        Int.random(in: 0..<titleCount, using: &random)
                    })
                var resource = try Self.resource("/f\(file)", bench.cache, bench)
                resource.titles = try titles.sorted().map(title)
                _ = try await resource.read().drain()
                await bench.cache.becomeIdle()
                model.entries[file] = Model.Entry(lastUsed: time, titles: titles)
                if Int.random(in: 0..<5, using: &random) == 0 {
                    try await bench.cache.retain(resource, as: .pinned)
                    model.entries[file]?.isPinned = true
                }
            }
            for _ in 0..<fileCount / 2 {
                time += 1
                clock.shift(by: .seconds(60))
                let file = Int.random(in: 0..<fileCount, using: &random)
                _ = try await bench.bytes("/f\(file)")
                model.entries[file]?.lastUsed = time
            }
            let tagged = Set(model.tags.filter { $0.value == Self.tag }.keys)
            let kept = model.entries.values.count { $0.isPinned && !$0.titles.isDisjoint(with: tagged) }
            var limit = fileCount
            while limit > kept {
                limit = max(kept, limit - Int.random(in: 1...3, using: &random))
                try await bench.cache.setLimit(Int64(limit) * 4096, forTag: Self.tag)
                model.hold(Self.tag, to: limit)
                let names = try await Self.names(bench.cache)
                #expect(names == Set(model.entries.keys.map { "f\($0)" }), "seed \(seed), limit \(limit)")
            }
        }
    }
}
