import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Titles: which files belong together, what they are called, and what pinning and removing them does.
@Suite("Titles", .limit(minutes: 2)) struct TitleTests {
    /// Reads files as a player does that has loaded the playlist of `title`.
    private static func play(_ files: [String], of title: String, _ bench: Bench) async throws {
        for name in files {
            var resource = try bench.cache.resource(for: bench.origin.url(name))
            resource.titles = [try reference(title, bench)]
            _ = try await resource.read().drain()
        }
    }

    private static var encryption: CacheEncryption? {
        KeyFile.key(hexadecimal: String(repeating: "07", count: 32)).map { CacheEncryption(key: $0) }
    }

    private static func reference(_ title: String, _ bench: Bench) throws -> TitleReference {
        let resource = try bench.cache.resource(for: bench.origin.url(title))
        return TitleReference(key: resource.key, url: resource.url)
    }

    private static func key(_ name: String, _ bench: Bench) throws -> CacheKey { try reference(name, bench).key }

    private static func title(_ name: String, _ bench: Bench) async throws -> Title? {
        let key = try key(name, bench)
        return try await bench.cache.titles().first { $0.key == key }
    }

    private static func names(_ cache: MediaCache) async throws -> [String] {
        try await cache.entries().map(\.url.lastPathComponent).sorted()
    }

    @Test(
        "the files of a stream are one title, other files titles of their own, also after a restart",
        arguments: [false, true])
    func membership(isSealed: Bool) async throws {
        let encryption = isSealed ? Self.encryption : nil
        try await Bench.run(configure: { $0.encryption = encryption }) { bench async throws in
            for name in ["/list", "/1", "/2", "/film"] { bench.publish(name, length: 1000) }
            try await Self.play(["/list", "/1", "/2"], of: "/list", bench)
            _ = try await bench.bytes("/film")
            func check(_ cache: MediaCache) async throws {
                let titles = try await cache.titles()
                #expect(titles.map(\.url.lastPathComponent).sorted() == ["film", "list"])
                let stream = try #require(titles.first { $0.isStream })
                #expect(stream.url.lastPathComponent == "list")
                #expect(stream.fileCount == 3 && stream.storedBytes == 3000)
                #expect(stream.allocatedBytes == stream.ownBytes)
                let film = try #require(titles.first { !$0.isStream })
                #expect(film.fileCount == 1 && film.storedBytes == 1000 && film.name == nil)
            }
            try await check(bench.cache)
            try await bench.reopened(configure: { $0.encryption = encryption }, check)
        }
    }

    @Test("two titles that share a file count it apart; removing one keeps the file of the other")
    func sharedFiles() async throws {
        try await Bench.run { bench async throws in
            for name in ["/a", "/b", "/shared", "/a1"] { bench.publish(name, length: 1000) }
            try await Self.play(["/a", "/a1", "/shared"], of: "/a", bench)
            try await Self.play(["/b"], of: "/b", bench)
            bench.cache.note([try Self.key("/shared", bench)], in: try Self.reference("/b", bench))
            let (a, b) = (try await Self.title("/a", bench), try await Self.title("/b", bench))
            #expect(a?.fileCount == 3 && b?.fileCount == 2)
            let block = (a?.allocatedBytes ?? 0) / 3
            #expect(block > 0)
            #expect(a?.ownBytes == 2 * block && b?.ownBytes == block)
            #expect(bench.cache.storedBytes == 4000)
            #expect(try await bench.cache.removeTitle(try Self.key("/a", bench)) == 2000)
            #expect(try await Self.names(bench.cache) == ["b", "shared"])
            #expect(try await bench.cache.titles().map(\.url.lastPathComponent) == ["b"])
            #expect(try await Self.title("/b", bench)?.fileCount == 2)
            #expect(try await bench.cache.removeTitle(try Self.key("/b", bench)) == 2000)
            #expect(try await Self.names(bench.cache) == [])
        }
    }

    @Test("a pin of a title keeps its files, those stored later, too, and lets all go again") func pinned() async throws
    {
        try await Bench.run(configure: { $0.limit = 1_000_000 }) { bench async throws in
            for name in ["/list", "/1", "/2"] { bench.publish(name, length: 100_000) }
            for name in ["/x", "/y", "/z"] { bench.publish(name, length: 400_000) }
            try await Self.play(["/list", "/1"], of: "/list", bench)
            let list = try bench.cache.resource(for: bench.origin.url("/list"))
            try await bench.cache.retain(list, as: .pinned)
            try await Self.play(["/2"], of: "/list", bench)
            for name in ["/x", "/y", "/z"] { _ = try await bench.bytes(name) }
            #expect(try await Self.names(bench.cache) == ["1", "2", "list", "z"])
            let retentions = try await bench.cache.entries().map { ($0.url.lastPathComponent, $0.retention) }
            #expect(retentions.allSatisfy { $0.1 == ($0.0 == "z" ? .cached : .pinned) })
            #expect(try await Self.title("/list", bench)?.retention == .pinned)
            try await bench.cache.retain(list, as: .cached)
            for name in ["/x", "/y"] { _ = try await bench.bytes(name) }
            #expect(try await Self.names(bench.cache) == ["x", "y"])
            // Without files and names nothing is left of it.
            #expect(try await Self.title("/list", bench) == nil)
        }
    }

    @Test("removing the first file of a pinned title lets its other files go when room is needed")
    func firstFileRemoved() async throws {
        try await Bench.run(configure: { $0.limit = 1_000_000 }) { bench async throws in
            for name in ["/list", "/1"] { bench.publish(name, length: 100_000) }
            for name in ["/x", "/y"] { bench.publish(name, length: 450_000) }
            try await Self.play(["/list", "/1"], of: "/list", bench)
            try await bench.cache.retain(try bench.cache.resource(for: bench.origin.url("/list")), as: .pinned)
            try await bench.cache.remove(try Self.key("/list", bench))
            #expect(try await bench.cache.entries().map(\.retention) == [.cached])
            for name in ["/x", "/y"] { _ = try await bench.bytes(name) }
            #expect(try await Self.names(bench.cache) == ["x", "y"])
        }
    }

    @Test("a name and a tag can be given before anything is stored, and stay without files", arguments: [false, true])
    func named(isSealed: Bool) async throws {
        let encryption = isSealed ? Self.encryption : nil
        try await Bench.run(configure: { $0.encryption = encryption }) { bench async throws in
            bench.publish("/film", length: 1000)
            let film = try bench.cache.resource(for: bench.origin.url("/film"))
            try await bench.cache.nameTitle(of: film, name: "Nosferatu", tag: "silent films")
            var title = try #require(try await Self.title("/film", bench))
            #expect(title.name == "Nosferatu" && title.tag == "silent films" && title.fileCount == 0)
            #expect(title.lastUsed == nil && title.plays == 0)
            _ = try await bench.bytes("/film")
            title = try #require(try await Self.title("/film", bench))
            #expect(title.name == "Nosferatu" && title.fileCount == 1 && title.storedBytes == 1000 && title.plays == 1)
            #expect(try await bench.cache.titles().count == 1)
            try await bench.cache.remove(film.key)
            #expect(try await Self.title("/film", bench)?.tag == "silent films")
            try await bench.cache.nameTitle(of: film, name: nil)
            #expect(try await bench.cache.titles().isEmpty)
            try await bench.cache.nameTitle(of: film, name: "Nosferatu", tag: "silent films")
            await bench.cache.close()
            let index = try Data(contentsOf: URL(fileURLWithPath: bench.directory.path(of: "catalogue.sqlite")))
            for text in ["Nosferatu", "silent films"] {
                #expect((index.range(of: Data(text.utf8)) == nil) == isSealed, "\(text)")
            }
        }
    }

    @Test(
        "a name is one line that can be shown",
        arguments: ["", "two\nlines", "\u{1B}[2J", "a\u{2028}b", String(repeating: "x", count: 1025)])
    func unusableNames(text: String) async throws {
        try await Bench.run { bench async throws in
            let film = try bench.cache.resource(for: bench.origin.url("/film"))
            for (name, tag) in [(text, nil), ("film", text)] as [(String, String?)] {
                await #expect { try await bench.cache.nameTitle(of: film, name: name, tag: tag) } throws: {
                    ($0 as? RepriseError)?.code == .invalidArgument
                }
            }
            #expect(try await bench.cache.titles().isEmpty)
        }
    }

    @Test("a name given first stays when the file turns out to be a playlist") func namedFirst() async throws {
        try await Bench.run { bench async throws in
            for name in ["/list", "/1"] { bench.publish(name, length: 1000) }
            let list = try bench.cache.resource(for: bench.origin.url("/list"))
            try await bench.cache.nameTitle(of: list, name: "Pilot", tag: "show")
            try await Self.play(["/list", "/1"], of: "/list", bench)
            let titles = try await bench.cache.titles()
            #expect(titles.count == 1 && titles.first?.name == "Pilot" && titles.first?.tag == "show")
            #expect(titles.first?.isStream == true && titles.first?.fileCount == 2)
        }
    }

    @Test("titles with a tag are pruned on their own, the least recently used first") func prunedByTag() async throws {
        let clock = ShiftableClock()
        try await Bench.run(configure: { $0.clock = clock.cacheClock }) { bench async throws in
            for name in ["/a", "/b", "/c", "/other"] {
                bench.publish(name, length: 100_000)
                let resource = try bench.cache.resource(for: bench.origin.url(name))
                try await bench.cache.nameTitle(of: resource, name: nil, tag: name == "/other" ? "films" : "news")
                if name == "/b" { try await bench.cache.retain(resource, as: .pinned) }
                _ = try await bench.bytes(name)
                clock.shift(by: .seconds(60))
            }
            let (freed, problem) = try await bench.cache.prunedTitles(tagged: "news", toSize: 250_000, olderThan: nil)
            #expect(freed >= 100_000 && freed < 200_000 && problem == nil)
            #expect(try await Self.names(bench.cache) == ["b", "c", "other"])
            _ = try await bench.cache.prunedTitles(tagged: "news", toSize: nil, olderThan: .seconds(3600))
            #expect(try await Self.names(bench.cache) == ["b", "c", "other"])
            clock.shift(by: .seconds(3600))
            _ = try await bench.cache.prunedTitles(tagged: "news", toSize: nil, olderThan: .seconds(3600))
            #expect(try await Self.names(bench.cache) == ["b", "other"])
            #expect(try await bench.cache.titles().count { $0.tag == "news" } == 3)
        }
    }

    @Test("a playlist that was played alone joins the title whose playlist names it") func innerPlaylistFirst()
        async throws
    {
        try await Bench.run { bench async throws in
            for name in ["/master", "/list", "/1"] { bench.publish(name, length: 1000) }
            try await Self.play(["/list", "/1"], of: "/list", bench)
            try await bench.cache.retain(try bench.cache.resource(for: bench.origin.url("/master")), as: .pinned)
            try await Self.play(["/master"], of: "/master", bench)
            bench.cache.note([try Self.key("/list", bench)], in: try Self.reference("/master", bench))
            var titles = try await bench.cache.titles()
            #expect(titles.map(\.url.lastPathComponent) == ["master"] && titles.first?.fileCount == 3)
            #expect(try await bench.cache.entries().allSatisfy { $0.retention == .pinned })
            // Played alone once more, it stays there.
            bench.cache.note([try Self.key("/1", bench)], in: try Self.reference("/list", bench))
            titles = try await bench.cache.titles()
            #expect(titles.map(\.url.lastPathComponent) == ["master"] && titles.first?.fileCount == 3)
        }
    }

    @Test("uses within half an hour are one play") func plays() async throws {
        let clock = ShiftableClock()
        try await Bench.run(configure: { $0.clock = clock.cacheClock }) { bench async throws in
            bench.publish("/film", length: 1000)
            for (pause, plays) in [(0, 1), (1700, 1), (1700, 1), (1900, 2), (60, 2), (86_400, 3)] {
                clock.shift(by: .seconds(pause))
                _ = try await bench.bytes("/film")
                #expect(try await Self.title("/film", bench)?.plays == plays, "after \(pause) s")
            }
        }
    }

    @Test("variants of one response belong to its title (RFC 9111 §4.1)") func variants() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/list", length: 1000)
            bench.publish("/1", length: 1000) { $0.fields = [.vary: "Accept-Language"] }
            try await Self.play(["/list"], of: "/list", bench)
            let resource = try bench.cache.resource(for: bench.origin.url("/1"))
            for language in ["de", "fr"] { _ = try await resource.read(fields: [.acceptLanguage: language]).drain() }
            _ = try await bench.cache.titles()
            bench.cache.note([resource.key], in: try Self.reference("/list", bench))
            #expect(try await Self.title("/list", bench)?.fileCount == 3)
            try await bench.cache.removeTitle(try Self.key("/list", bench))
            #expect(try await Self.names(bench.cache) == [])
        }
    }

    @Test("a tag's titles go with their names, other titles and shared files stay")
    func removalByTag() async throws {
        try await Bench.run { bench async throws in
            for name in ["/list", "/1", "/2", "/film"] { bench.publish(name, length: 1000) }
            try await Self.play(["/list", "/1", "/2"], of: "/list", bench)
            try await Self.play(["/film"], of: "/film", bench)
            bench.cache.note([try Self.key("/2", bench)], in: try Self.reference("/film", bench))
            let list = try bench.cache.resource(for: bench.origin.url("/list"))
            try await bench.cache.nameTitle(of: list, name: nil, tag: "show")
            try await bench.cache.retain(list, as: .pinned)
            #expect(try await bench.cache.remove(tag: "other") == 0)
            #expect(try await bench.cache.remove(tag: "show") == 2000)
            #expect(try await Self.names(bench.cache) == ["2", "film"])
            #expect(try await bench.cache.retention(of: list) == .cached)
        }
    }

    @Test("a file that no playlist lists any more is not kept again because its record is written again")
    func givenUp() async throws {
        try await Bench.run { bench async throws in
            for name in ["/list", "/1", "/2"] { bench.publish(name, length: 1000) }
            try await Self.play(["/list", "/1", "/2"], of: "/list", bench)
            let list = try bench.cache.resource(for: bench.origin.url("/list"))
            try await bench.cache.retain(list, as: .pinned)
            let named = try Set(["/list", "/1"].map { try Self.key($0, bench) })
            try await bench.cache.engine.store?.recorder.giveUp(filesOf: list.key) { named }
            func kept() async throws -> Set<String> {
                Set(try await bench.cache.entries().filter { $0.retention == .pinned }.map(\.url.lastPathComponent))
            }
            #expect(try await kept() == ["list", "1"])
            let second = try bench.cache.resource(for: bench.origin.url("/2"))
            second.engine.invalidate(second.key)
            #expect(try await kept() == ["list", "1"])
            #expect(try await Self.title("/list", bench)?.fileCount == 3)
            bench.cache.note([second.key], in: try Self.reference("/list", bench))
            #expect(try await kept() == ["list", "1", "2"])
        }
    }

    @Test("a playlist that was recorded before a file of its stream is a file of it")
    func firstFileBeforeItsTitle() async throws {
        try await Bench.run { bench async throws in
            for name in ["/list", "/1"] { bench.publish(name, length: 1000) }
            _ = try await bench.bytes("/list")
            await bench.cache.becomeIdle()
            try await Self.play(["/1"], of: "/list", bench)
            let titles = try await bench.cache.titles()
            #expect(titles.map(\.url.lastPathComponent) == ["list"] && titles.first?.fileCount == 2)
        }
    }

    @Test("a file that comes while it is looked up what the playlists name is not given up")
    func comesMeanwhile() async throws {
        try await Bench.run { bench async throws in
            for name in ["/list", "/1", "/2"] { bench.publish(name, length: 1000) }
            try await Self.play(["/list", "/1"], of: "/list", bench)
            _ = try await bench.bytes("/2")
            let list = try bench.cache.resource(for: bench.origin.url("/list"))
            try await bench.cache.retain(list, as: .pinned)
            let (title, second) = (try Self.reference("/list", bench), try Self.key("/2", bench))
            try await bench.cache.engine.store?.recorder.giveUp(filesOf: list.key) { [cache = bench.cache] in
                cache.note([second], in: title)
                return [list.key]
            }
            let kept = try await bench.cache.entries().filter { $0.retention == .pinned }.map(\.url.lastPathComponent)
            #expect(Set(kept) == ["list", "2"])
        }
    }

    @Test("pruning a tag leaves files that are pinned by themselves")
    func pruningKeepsPins() async throws {
        try await Bench.run { bench async throws in
            for name in ["/list", "/1", "/2"] { bench.publish(name, length: 1000) }
            try await Self.play(["/list", "/1", "/2"], of: "/list", bench)
            let list = try bench.cache.resource(for: bench.origin.url("/list"))
            try await bench.cache.nameTitle(of: list, name: nil, tag: "show")
            let pinned = try bench.cache.resource(for: bench.origin.url("/1"))
            try await bench.cache.retain(pinned, as: .pinned)
            _ = try await bench.cache.prunedTitles(tagged: "show", toSize: 0, olderThan: nil)
            #expect(try await Self.names(bench.cache) == ["1"])
            #expect(try await bench.cache.retention(of: pinned) == .pinned)
        }
    }

    @Test("a host's files go, in every partition, with pins of which nothing is stored")
    func removalByHost() async throws {
        try await Bench.run { bench async throws in
            let other = bench.origin.url("/b").replacing("127.0.0.1", with: "localhost")
            for name in ["/a", "/b"] { bench.publish(name, length: 1000) }
            for partition in [nil, "anna"] {
                _ = try await bench.cache.resource(for: bench.origin.url("/a"), partition: partition).read().drain()
            }
            _ = try await bench.cache.resource(for: other).read().drain()
            let awaited = try bench.cache.resource(for: bench.origin.url("/later"))
            try await bench.cache.retain(awaited, as: .pinned)
            #expect(try await bench.cache.remove(host: "127.0.0.1") == 2000)
            #expect(try await bench.cache.entries().map(\.url.description) == [other])
            #expect(try await bench.cache.awaitedEntries().isEmpty)
            #expect(try await bench.cache.remove(host: "LOCALHOST") == 1000)
        }
    }

    @Test func completeEntriesAreThoseWithoutHoles() async throws {
        try await Bench.run { bench async throws in
            for name in ["/a", "/b"] { bench.publish(name, length: 1000) }
            _ = try await bench.bytes("/a")
            _ = try await bench.bytes("/b", .bounded(0..<10))
            await bench.cache.becomeIdle()
            #expect(try await bench.cache.entries(complete: true).map(\.url.lastPathComponent) == ["a"])
            #expect(try await bench.cache.entries(complete: false).map(\.url.lastPathComponent) == ["b"])
        }
    }
}
