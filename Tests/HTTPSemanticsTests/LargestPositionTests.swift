import HTTPSemantics
import HTTPTypes
import Testing

/// The limit of offsets and lengths, 2^53, at every input.
@Suite("Numbers of bytes end at 2^53") struct LargestPositionTests {
    private static let limit = "9007199254740992"
    /// 2^53 + 1, about 2^63, beyond it, and far beyond.
    static let beyond = [
        "9007199254740993", "9223372036854775806", "9223372036854775807", "9223372036854775808",
        String(repeating: "9", count: 100),
    ]

    @Test("Content-Range counts up to 2^53")
    func contentRangeReachesTheLimit() {
        #expect(
            ContentRange("bytes 9007199254740991-9007199254740991/\(Self.limit)")
                == .satisfied((1 << 53) - 1..<1 << 53, completeLength: 1 << 53))
        #expect(ContentRange("bytes */\(Self.limit)") == .unsatisfied(completeLength: 1 << 53))
        #expect(ContentRange("bytes 0-\(Self.limit)/*") == nil, "the byte at 2^53 is the first beyond")
    }

    @Test("A Content-Range beyond is invalid", arguments: beyond)
    func contentRangeBeyondIsInvalid(number: String) {
        for value in [
            "bytes 0-1/\(number)", "bytes 0-\(number)/*", "bytes \(number)-\(number)/*", "bytes */\(number)",
            "bytes 1-2/\(number)",
        ] {
            #expect(ContentRange(value) == nil)
        }
    }

    @Test("A Content-Length is digits up to 2^53, perhaps repeated: RFC 9110 §8.6")
    func contentLengths() {
        #expect(contentLength(Self.limit) == 1 << 53)
        #expect(contentLength("00000000000000000000000000042") == 42)
        #expect(contentLength("7, 7") == 7)
        for value in Self.beyond + ["", "-1", "+1", "1.0", "0x10", "7, 8", "7 7"] {
            #expect(contentLength(value) == nil)
        }
    }

    @Test("A response with a number beyond is rejected, or asked for once more without a range", arguments: beyond)
    func responsesAreRejected(number: String) {
        let request = FetchRequest(range: .from(0))
        let fields: HTTPFields = [.contentLength: number, .eTag: "\"a\""]
        #expect(action(for: response(200, fields), to: request, stored: nil) == .reject(.contentLength))
        #expect(action(for: partial("bytes 0-1/2", fields), to: request, stored: nil) == .reject(.contentLength))
        for range in ["bytes 0-1/\(number)", "bytes 0-\(number)/*", "bytes \(number)-\(number)/*"] {
            #expect(action(for: partial(range), to: request, stored: nil) == .reject(.invalidContentRange))
            let shared = StoragePolicy(isShared: true)
            #expect(
                action(for: partial(range), to: request, stored: nil, storage: shared) == .reject(.invalidContentRange))
        }
        let refusal = response(416, [.contentRange: "bytes */\(number)"])
        #expect(action(for: refusal, to: request, stored: nil) == .retryWithoutRange)
    }

    @Test("An end beyond it is clipped, and a beginning beyond it lies outside: RFC 9110 §14.1.2", arguments: beyond)
    func rangesAreClipped(number: String) throws {
        #expect(RangeField("bytes=5-\(number)")?.specs == [.bounded(5..<1 << 53)])
        #expect(RangeField("bytes=-\(number)")?.specs == [.suffix(1 << 53)])
        for value in ["bytes=\(number)-", "bytes=\(number)-\(number)"] {
            let spec = try #require(RangeField(value)?.single)
            #expect(spec == .from(1 << 53))
            #expect(spec.resolve(completeLength: 1 << 53) == nil)
        }
    }

    @Test(
        "A range made by a program is clipped, or cannot be printed",
        arguments: [
            (.bounded(0 ..< .max), .bounded(0..<1 << 53)), (.bounded(5..<6), .bounded(5..<6)),
            (.bounded(.max - 1 ..< .max), .from(1 << 53)), (.from(.max), .from(1 << 53)), (.from(0), .from(0)),
            (.suffix(.max), .suffix(1 << 53)), (.suffix(0), .suffix(0)), (.bounded(5..<5), nil),
            (.bounded(-5..<5), nil), (.bounded(.min ..< .max), nil), (.bounded(.min ..< .min), nil), (.from(-1), nil),
            (.from(.min), nil), (.suffix(-1), nil), (.suffix(.min), nil),
        ] as [(RangeSpec, RangeSpec?)])
    func specsAreClipped(spec: RangeSpec, expected: RangeSpec?) {
        #expect(spec.clipped == expected)
        if let clipped = spec.clipped { #expect(RangeField(RangeField(clipped).description)?.single == clipped) }
    }

    @Test("Times end at 2^31 in every field: RFC 9111 §1.2.2", arguments: ["2147483649", "999999999999999"])
    func timesAreClamped(seconds: String) {
        let names = ["max-age", "s-maxage", "stale-while-revalidate", "stale-if-error"]
        let value = names.map { "\($0)=\(seconds)" }.joined(separator: ", ")
        let fields = HTTPFields().adding("CDN-Cache-Control", value).adding("Cache-Control", value)
        for isShared in [false, true] {
            let control = CacheControl(fields, isShared: isShared)
            let times = [
                control.maxAge, control.sharedMaxAge, control.staleWhileRevalidate, control.staleIfError,
            ]
            #expect(times == Array(repeating: CacheControl.longestTime, count: 4))
        }
        #expect(CacheControl.seconds(seconds) == CacheControl.longestTime)
        #expect(CacheControl.seconds("-1") == nil)
        #expect(CacheControl.seconds("+1") == nil)
    }
}
