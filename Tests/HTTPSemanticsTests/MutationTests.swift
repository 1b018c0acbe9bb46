import HTTPSemantics
import TestLimits
import Testing

/// 20,000 seeded mutations for each parser: none traps, and what parses survives printing.
@Suite("Mutations", .limit(minutes: 2)) struct MutationTests {
    /// The first value that fails `check`, among seeds bent at one to four places.
    ///
    /// A byte is replaced, inserted or removed, the rest is doubled, or a piece of another seed comes in.
    static func firstFailure(among seeds: [String], count: Int = 20_000, _ check: (String) -> Bool) -> String? {
        let alphabet = Array(" \t,;=-/*\"\\0123456789WbytesGMTäé\u{7F}\u{0}".utf8)
        var generator = SeededGenerator(state: 9110)
        for _ in 0..<count {
            var bytes = Array((seeds.randomElement(using: &generator) ?? "").utf8)
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0...bytes.count, using: &generator)
                let byte = alphabet.randomElement(using: &generator) ?? 0
                switch Int.random(in: 0..<5, using: &generator) {
                case 0 where place < bytes.count: bytes[place] = byte
                case 1 where place < bytes.count: bytes.remove(at: place)
                case 2: bytes.insert(contentsOf: bytes[place...], at: place)
                case 3:
                    let other = Array((seeds.randomElement(using: &generator) ?? "").utf8)
                    bytes.insert(contentsOf: other.prefix(.random(in: 0...other.count, using: &generator)), at: place)
                default: bytes.insert(byte, at: place)
                }
            }
            let value = String(decoding: bytes, as: UTF8.self)
            if !check(value) { return value }
        }
        return nil
    }

    /// Whether the value, if it parses, is the same once printed and parsed again.
    static func survives<Value: Equatable & CustomStringConvertible>(
        _ value: String, _ parse: (String) -> Value?
    ) -> Bool {
        guard let parsed = parse(value) else { return true }
        return parse(parsed.description) == parsed
    }

    @Test("Range") func range() {
        let seeds = ["bytes=0-499", "bytes=-500", "bytes=9500-", "bytes=0-0,-1, 5-9223372036854775807"]
        #expect(Self.firstFailure(among: seeds) { Self.survives($0) { RangeField($0) } } == nil)
    }

    @Test("Content-Range") func contentRange() {
        let seeds = [
            "bytes 0-499/1234", "bytes 42-1233/*", "bytes */1234", "bytes 0-9223372036854775806/9223372036854775807",
        ]
        #expect(Self.firstFailure(among: seeds) { Self.survives($0) { ContentRange($0) } } == nil)
    }

    @Test("Entity tags") func entityTags() {
        let seeds = ["\"xyzzy\"", "W/\"xyzzy\"", "\"\"", "\"ä,b\"", "*", "\"a\", W/\"b\" ,, \"c\""]
        #expect(Self.firstFailure(among: seeds) { Self.survives($0) { EntityTag($0) } } == nil)
        #expect(Self.firstFailure(among: seeds) { Self.survives($0) { EntityTagCondition($0) } } == nil)
    }

    @Test("HTTP-date and If-Range") func dates() {
        let seeds = [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "Tue, 29 Feb 2000 23:59:60 GMT",
        ]
        #expect(Self.firstFailure(among: seeds) { Self.survives($0) { HTTPDate($0) } } == nil)
        #expect(Self.firstFailure(among: seeds + ["\"a\"", "W/\"a\""]) { Self.survives($0) { IfRange($0) } } == nil)
    }

    @Test("Accept-Ranges") func acceptRanges() {
        #expect(
            Self.firstFailure(among: ["bytes", "none", "foo, bar"]) { Self.survives($0) { AcceptRanges($0) } } == nil)
    }

    @Test("Cache-Control") func cacheControl() {
        let seeds = [
            "max-age=60, s-maxage=5, no-store", "private=\"a, b\", no-cache=\"c\"", "max-stale, min-fresh=3",
            "stale-while-revalidate=\"7\", immutable, public", "must-revalidate,, only-if-cached",
        ]
        #expect(Self.firstFailure(among: seeds) { Self.survives($0) { CacheControl($0) } } == nil)
    }

    @Test("Cache-Status") func cacheStatus() {
        let seeds = ["A; hit; detail=\"a\\\"b\"", "\"CDN, Inc\"; fwd=miss, B; hit"]
        #expect(Self.firstFailure(among: seeds) { CacheStatus(.hit).appended(to: $0).hasSuffix("reprise; hit") } == nil)
    }
}
