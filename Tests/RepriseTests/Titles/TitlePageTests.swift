import Primitives
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Titles page by page, compared with the list of all titles.
@Suite("Pages of titles", .limit(minutes: 2)) struct TitlePageTests {
    private static var encryption: CacheEncryption? {
        KeyFile.key(hexadecimal: String(repeating: "07", count: 32)).map { CacheEncryption(key: $0) }
    }

    /// Reads `files` one after the other, a minute apart, as files of `title` if there is one.
    private static func play(
        _ files: [String], of title: String? = nil, _ bench: Bench, _ clock: ShiftableClock
    ) async throws {
        for name in files {
            clock.shift(by: .seconds(60))
            var resource = try bench.cache.resource(for: bench.origin.url(name))
            if let title {
                let first = try bench.cache.resource(for: bench.origin.url(title))
                resource.titles = [TitleReference(key: first.key, url: first.url)]
            }
            _ = try await resource.read().drain()
        }
    }

    /// All pages of `size` titles.
    private static func pages(
        of size: Int, _ cache: MediaCache
    ) async throws -> [[TitlePage.Item]] {
        var pages: [[TitlePage.Item]] = []
        var place: TitlePage.Place?
        repeat {
            let page = try await cache.titlePage(after: place, limit: size)
            pages.append(page.items)
            place = page.next
            // What a client sends back is text.
            if let text = place?.text { #expect(TitlePage.Place(text) == place) }
        } while place != nil
        return pages
    }

    /// Two streams of which one was used after all files but one, files, and a file with two titles.
    private static func run(
        isSealed: Bool = false, _ body: (Bench, ShiftableClock) async throws -> Void
    ) async throws {
        let clock = ShiftableClock()
        try await Bench.run(configure: { configuration in
            configuration.clock = clock.cacheClock
            configuration.encryption = isSealed ? encryption : nil
        }) { bench async throws in
            let names = ["/list", "/1", "/2", "/other", "/o1", "/shared", "/a.mp4", "/b%20c.mp4", "/d.mp4?key=secret"]
            for name in names { bench.publish(name, length: 1000) }
            try await play(["/list", "/1"], of: "/list", bench, clock)
            try await play(["/a.mp4"], bench, clock)
            try await play(["/other", "/o1", "/shared"], of: "/other", bench, clock)
            try await play(["/b%20c.mp4"], bench, clock)
            try await play(["/2", "/shared"], of: "/list", bench, clock)
            try await play(["/d.mp4?key=secret"], bench, clock)
            try await body(bench, clock)
        }
    }

    @Test("pages of every size have the titles of the whole list, in its order, each once", arguments: [false, true])
    func everyTitleOnce(isSealed: Bool) async throws {
        try await Self.run(isSealed: isSealed) { bench, _ async throws in
            let all = try await bench.cache.titles()
            #expect(all.count == 5)
            for size in 1...6 {
                let pages = try await Self.pages(of: size, bench.cache)
                let items = pages.flatMap(\.self)
                // Two titles that share their last file stand at the same place, in either order.
                #expect(items.map(\.title.lastUsed) == all.map(\.lastUsed), "pages of \(size)")
                #expect(Set(items.map(\.title.key)) == Set(all.map(\.key)))
                for item in items {
                    let title = try #require(all.first { $0.key == item.title.key })
                    #expect(item.title.storedBytes == title.storedBytes && item.title.fileCount == title.fileCount)
                    // The list adds them up in another way.
                    #expect(item.title.allocatedBytes == title.allocatedBytes && item.title.ownBytes == title.ownBytes)
                    #expect(item.id == bench.cache.id(of: title.key))
                    #expect((item.stored == nil) == title.isStream)
                    #expect(item.information?.completeLength == 1000)
                }
            }
        }
    }

    @Test("what is used between two pages is on neither a second time") func usedInBetween() async throws {
        try await Self.run { bench, clock async throws in
            let first = try await bench.cache.titlePage(limit: 3)
            let seen = Set(first.items.map(\.title.key))
            let place = try #require(first.next)
            for item in first.items.prefix(1) { try await Self.play([item.title.url.target], bench, clock) }
            let rest = try await bench.cache.titlePage(after: place, limit: 10)
            #expect(rest.items.allSatisfy { !seen.contains($0.title.key) })
            #expect(rest.next == nil)
            #expect(seen.count + rest.items.count == 5)
        }
    }

    @Test("an incomplete file has its spans, a complete one is whole") func spans() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 1_000_000)
            _ = try await bench.bytes("/a", .bounded(0..<100_000))
            _ = try await bench.bytes("/a", .bounded(500_000..<600_000))
            await bench.cache.becomeIdle()
            let item = try #require(try await bench.cache.titlePage(limit: 1).items.first)
            let stored = try #require(item.stored)
            #expect(stored.spanCount == 2 && stored.byteCount == item.title.storedBytes)
            _ = try await bench.bytes("/a")
            let whole = try #require(try await bench.cache.titlePage(limit: 1).items.first)
            #expect(whole.stored.map(Array.init) == [0..<1_000_000])
        }
    }

    @Test("an identifier stands for a title, a file or what is only kept", arguments: [false, true])
    func identifiers(isSealed: Bool) async throws {
        try await Self.run(isSealed: isSealed) { bench, _ async throws in
            for item in try await bench.cache.titlePage(limit: 10).items {
                let reference = try await bench.cache.reference(id: item.id)
                #expect(reference == TitleReference(key: item.title.key, url: item.title.url))
            }
            let later = try bench.cache.resource(for: bench.origin.url("/later"))
            #expect(try await bench.cache.reference(id: bench.cache.id(of: later.key)) == nil)
            try await bench.cache.retain(later, as: .pinned)
            #expect(try await bench.cache.reference(id: bench.cache.id(of: later.key))?.url == later.url)
            for text in ["", "x", String(repeating: "0", count: 64), "' OR 1=1 --", String(repeating: "g", count: 64)] {
                #expect(try await bench.cache.reference(id: text) == nil)
            }
        }
    }

    @Test(
        "what is no place is none",
        arguments: ["", "-", "0", "x-y", "7ff0000000000000-" + String(repeating: "0", count: 64), "0-" + "zz"])
    func wrongPlaces(text: String) { #expect(TitlePage.Place(text) == nil) }

    @Test func aCacheWithoutAStoreHasNoTitles() async throws {
        try await Bench.run(isStoring: false) { bench async throws in
            let page = try await bench.cache.titlePage(limit: 10)
            #expect(page.items.isEmpty && page.next == nil)
        }
    }
}
