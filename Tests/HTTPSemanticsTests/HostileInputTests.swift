import HTTPSemantics
import HTTPTypes
import TestLimits
import Testing

/// Whatever comes from the network, no parser traps (invariant I7).
@Suite("Hostile input", .limit(minutes: 2)) struct HostileInputTests {
    static let short: [String] = [
        "", " ", "\t", ",", ",,,,", "*", "\"", "\\", "\"\\", "=", "-", "--", "/", "W/", "W/\"", "bytes", "bytes=",
        "bytes ",
        "bytes */", "\u{0}", "\u{FFFD}", "\u{7F}", "é", "e\u{301}", "👩‍👩‍👧‍👦", "\u{202E}bytes=0-1", "９９９９",
        "-9223372036854775808", "9223372036854775807", "9223372036854775808", "18446744073709551616",
        "bytes=-9223372036854775808", "bytes -1--1/-1", "max-age=-9223372036854775808", "NaN", "1e999", "0x7fffffff",
    ]

    static let repeated: [String] = [
        "0", "9", "a", "\"", ",", "=", "\\", " ", "ä", "bytes=0-1,", "W/\"a\",", "max-age=", "a=\"", "Sun, ",
    ]

    /// 64 KiB, 8 KiB, and just enough to reach the number parsers.
    static func long(_ piece: String) -> [String] {
        func times(_ bytes: Int) -> String { String(repeating: piece, count: bytes / piece.utf8.count) }
        return [times(65_536), times(8192), "bytes=" + times(4000), "bytes 0-" + times(4000) + "/*"]
    }

    static let extremes: [String] = short + repeated.flatMap(long)

    /// Parses with everything that parses, and prints what came out.
    static func readAsEverything(_ value: String) {
        _ = RangeField(value)?.specs.map { ($0.resolve(completeLength: .max), $0.resolve(completeLength: 0)) }
        _ = ContentRange(value)?.description
        _ = EntityTag(value)?.description
        _ = EntityTagCondition(value)?.description
        _ = HTTPDate(value, now: HTTPDate(secondsSince1970: .max))?.description
        _ = HTTPDate(value, now: HTTPDate(secondsSince1970: .min))?.description
        _ = IfRange(value)?.description
        _ = AcceptRanges(value)?.description
        _ = CacheControl(value).description
        _ = CacheStatus(.hit, detail: value).appended(to: value)
    }

    @Test("No extreme value traps a parser")
    func extremesDoNotTrap() {
        for value in Self.extremes { Self.readAsEverything(value) }
    }

    @Test("Values over 8 KiB are refused")
    func oversizedValuesAreRefused() {
        let padding = String(repeating: " ", count: 8192)
        #expect(RangeField("bytes=0-1" + padding) == nil)
        #expect(ContentRange("bytes 0-1/2" + padding) == nil)
        #expect(EntityTag("\"" + String(repeating: "a", count: 8191) + "\"") == nil)
        #expect(EntityTag("\"" + String(repeating: "a", count: 8190) + "\"") != nil)
        #expect(EntityTagCondition("*" + padding) == nil)
        #expect(HTTPDate("Sun, 06 Nov 1994 08:49:37 GMT" + padding) == nil)
        #expect(IfRange("\"a\"" + padding) == nil)
        #expect(AcceptRanges("bytes" + padding) == nil)
    }

    @Test("A head of 64 KiB fields does not trap the decision")
    func longFieldsDoNotTrap() {
        for value in Self.repeated.compactMap({ Self.long($0).first }) {
            let fields: HTTPFields = [
                .contentLength: value, .eTag: value, .date: value, .contentType: value, .contentEncoding: value,
                .vary: value,
                .cacheControl: value, .acceptRanges: value, .connection: value, .contentRange: value,
            ]
            for status in [200, 206, 304, 416] { _ = action(for: response(status, fields)) }
            _ = Freshness(fields, requestTime: .init(secondsSince1970: 0), responseTime: .init(secondsSince1970: 0))
            _ = fields.endToEnd
            _ = evaluatePreconditions(
                [.ifMatch: value, .ifNoneMatch: value, .ifRange: value, .range: value], validators: Validators(fields))
        }
    }

    @Test("No head traps the decision, whatever its fields")
    func headsDoNotTrap() {
        var generator = SeededGenerator(state: 9111)
        let names: [HTTPField.Name] = [
            .contentRange, .contentLength, .eTag, .lastModified, .date, .contentType, .contentEncoding, .vary,
            .cacheControl, .acceptRanges, .transferEncoding, .age, .expires, .connection,
        ]
        let plausible = [
            "bytes 0-9/10", "bytes 0-9223372036854775806/9223372036854775807", "bytes */0", "10", "\"a\"", "W/\"a\"",
            "bytes",
            "text/html", "Sun, 06 Nov 1994 08:49:37 GMT", "identity",
        ]
        let specs: [RangeSpec?] = [
            nil, .from(.max), .from(.min), .from(0), .suffix(.max), .suffix(.min), .bounded(.min ..< .max),
            .bounded(0..<10),
        ]
        let lengths: [Int64?] = [nil, 0, 10, .max, .min]
        for _ in 0..<5_000 {
            var fields = HTTPFields()
            for name in names where Bool.random(using: &generator) {
                let values = Bool.random(using: &generator) ? plausible : Self.short
                fields.append(HTTPField(name: name, value: values.randomElement(using: &generator) ?? ""))
            }
            let stored = GenerationIdentity(
                validators: Validators(fields), completeLength: lengths.randomElement(using: &generator) ?? nil)
            let request = FetchRequest(
                range: specs.randomElement(using: &generator) ?? nil, sentIfRange: .random(using: &generator),
                sentCondition: .random(using: &generator))
            let policy: GenerationPolicy =
                [.strict, .lengthAndDate, .immutable].randomElement(using: &generator) ?? .strict
            let status = [200, 206, 304, 416].randomElement(using: &generator) ?? 200
            _ = validate(
                request, against: Bool.random(using: &generator) ? stored : nil, policy: policy,
                response: response(status, fields))
            let freshness = Freshness(
                fields, requestTime: HTTPDate(secondsSince1970: .max), responseTime: HTTPDate(secondsSince1970: .min))
            _ = freshness.staleness(now: HTTPDate(secondsSince1970: .max))
            _ = fields.endToEnd
        }
    }
}
