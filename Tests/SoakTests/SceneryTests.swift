import TestLimits
import Testing

@testable import Soak

@Suite(.limit(minutes: 1))
struct SceneryTests {
    @Test("The window of a live stream moves with the time, and its segments are files of the same origin")
    func live() throws {
        let library = Library(count: 20, origins: 4, seed: 3)
        func numbers(_ time: Double) throws -> [Int] {
            Scenery.segments(in: try #require(Scenery.list(at: Scenery.livePath(5), time: time)).text).map(\.number)
        }
        #expect(try numbers(100) == Array(45...50))
        #expect(try numbers(101.9) == Array(45...50))
        #expect(try numbers(102) == Array(46...51))
        #expect(Scenery.newest(at: 102) == 51)
        let list = try #require(Scenery.list(at: Scenery.livePath(5), time: 100))
        let path = try #require(Scenery.segments(in: list.text).first).path
        let file = try #require(library[path])
        #expect(file.origin == 5 % 4 && file.path == path && library[path] === file)
    }

    @Test("A show ends, and its segments are files of its origin", arguments: 0..<Scenery.shows)
    func show(number: Int) throws {
        let list = try #require(Scenery.list(at: Scenery.showPath(number), time: 0))
        #expect(list.text.hasSuffix("#EXT-X-ENDLIST\n"))
        let library = Library(count: 20, origins: 4, seed: 3)
        for (_, path) in Scenery.segments(in: list.text) {
            #expect(library[path]?.origin == Scenery.origin(ofShow: number, of: 4))
        }
    }

    @Test("A premiere lasts three seconds, and is the same for its clients and its origin")
    func premiere() throws {
        let library = Library(count: 20, origins: 4, seed: 3)
        let file = library.premiere(at: 30)
        #expect(library.premiere(at: 32.9) === file && library.premiere(at: 33) !== file)
        #expect(library[file.path] === file)
        #expect(library["/premiere/10.ts"] == nil && library["/strong/1000000.mp4"] == nil)
    }

    @Test("What is no playlist is none")
    func others() {
        for path in ["/strong/1.mp4", "/live/x.m3u8", "/live/1/2.m3u8", "/"] {
            #expect(Scenery.list(at: path, time: 0) == nil)
        }
    }

    @Test("Hostile lists are the same for the same seed, of every shape, large, and within the limit")
    func hostile() {
        var largest: [HostileList.Shape: Int] = [:]
        for number in 0..<Scenery.hostiles {
            let text = HostileList(seed: UInt64(number)).text
            #expect(text == HostileList(seed: UInt64(number)).text)
            let shape = HostileList.Shape(number)
            #expect(text.hasPrefix(shape.isDASH ? "<MPD" : "#EXTM3U") && text.utf8.count <= HostileList.limit)
            largest[shape] = max(largest[shape] ?? 0, text.utf8.count)
        }
        #expect(largest.count == HostileList.Shape.allCases.count)
        #expect(largest.values.allSatisfy { $0 > 10_000 }, "\(largest)")
    }
}
