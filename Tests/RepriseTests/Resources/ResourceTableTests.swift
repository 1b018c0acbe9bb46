import HTTPSemantics
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Which resources leave memory when there are many.
@Suite(.limit(minutes: 2)) struct ResourceTableTests {
    private final class Fake {
        var isKnown = true
        var isIdle = true
        var wasUsed = false
    }

    /// Inserts, and returns how many others were examined.
    @discardableResult
    private static func insert(
        _ number: Int, _ table: inout ResourceTable<Fake>, primary: Int? = nil, _ change: (Fake) -> Void = { _ in }
    ) -> Int {
        let fake = Fake()
        change(fake)
        var looks = 0
        table.insert(
            fake, at: key(number), name: "\(number)", primary: primary.map(key),
            trial: { fake in
                looks += 1
                return fake.isKnown ? .settles : fake.isIdle ? .leaves : .stays
            },
            review: { fake in
                looks += 1
                defer { fake.wasUsed = false }
                return fake.isIdle && !fake.wasUsed ? .leaves : .stays
            })
        return looks
    }

    private static func key(_ number: Int) -> CacheKey { CacheKey("http://origin/\(number)") }

    private static func numbers(_ table: ResourceTable<Fake>) -> [Int] { (0..<5000).filter { table[key($0)] != nil } }

    @Test func theOldestIdleOnesLeaveFewAtATime() {
        var table = ResourceTable<Fake>(capacity: 100, trialCapacity: 10)
        var before = 0
        for number in 0..<1000 {
            Self.insert(number, &table)
            #expect(table.count > before - 4)
            before = table.count
        }
        #expect((100...115).contains(table.count))
        #expect(Self.numbers(table) == Array(1000 - table.count..<1000))
    }

    @Test func whatIsUsedOrInUseStays() throws {
        var table = ResourceTable<Fake>(capacity: 100, trialCapacity: 10)
        Self.insert(0, &table)
        Self.insert(1, &table) { $0.isIdle = false }
        for number in 2..<2000 {
            table[Self.key(0)]?.wasUsed = true
            Self.insert(number, &table)
        }
        #expect(table[Self.key(0)] != nil)
        #expect(table[Self.key(1)] != nil)
        #expect(table[Self.key(2)] == nil)
    }

    @Test func unknownURLsPushNothingOut() {
        var table = ResourceTable<Fake>(capacity: 100, trialCapacity: 10)
        for number in 0..<90 { Self.insert(number, &table) }
        for number in 1000..<5000 { Self.insert(number, &table) { $0.isKnown = false } }
        #expect(Self.numbers(table).prefix(90) == Array(0..<90)[...])
        #expect(table.count <= 110)
    }

    @Test func oneInsertionLooksAtAFewOnlyThoughAllAreInUse() {
        var table = ResourceTable<Fake>(capacity: 100, trialCapacity: 10)
        for number in 0..<1000 {
            #expect(Self.insert(number, &table) { $0.isIdle = false } <= 2 * ResourceTable<Fake>.looks)
        }
        #expect(table.count == 1000)
        for fake in table.all { fake.isIdle = true }
        for number in 1000..<2000 { Self.insert(number, &table) }
        #expect(table.count <= 120, "later insertions make up for it")
    }

    @Test func whatWasRemovedLeavesNoTrace() {
        var table = ResourceTable<Fake>(capacity: 100, trialCapacity: 10)
        for number in 0..<2000 {
            Self.insert(number % 50, &table, primary: 4999)
            #expect(table.contains(name: "\(number % 50)"))
            #expect(table.family(of: Self.key(4999)).count == 1)
            table.remove(Self.key(number % 50))
        }
        #expect(table.count == 0)
        #expect(table.family(of: Self.key(4999)).isEmpty)
        #expect(!table.contains(name: "7"))
    }

    @Test func refusedURLsDoNotPushMediaInPlayOut() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/film", length: 100_000)
            let film = try bench.cache.resource(for: bench.origin.url("/film"))
            _ = try await film.read().drain()
            await bench.cache.becomeIdle()
            #expect(await bench.cache.engine.store?.recorder.flush() == true)
            for number in 0..<600 {
                await #expect(throws: RepriseError.self) { try await bench.bytes("/nothing/\(number)") }
            }
            #expect(bench.cache.engine.liveKeys.count < 100)
            #expect(film.storedInMemory()?.region() != nil, "verified, and in play")
        }
    }
}
