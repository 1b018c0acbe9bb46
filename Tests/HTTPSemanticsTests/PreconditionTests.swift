import HTTPSemantics
import HTTPTypes
import Testing

@Suite("Preconditions") struct PreconditionTests {
    static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
    static let earlier = "Sun, 06 Nov 1994 08:49:36 GMT"
    static let later = "Sun, 06 Nov 1994 08:49:38 GMT"

    let stored = Validators(etag: tag("a"), lastModified: date(modified), date: date("Mon, 07 Nov 1994 00:00:00 GMT"))

    func evaluate(_ request: HTTPFields, method: HTTPRequest.Method = .get, exists: Bool = true) -> PreconditionResult {
        evaluatePreconditions(request, method: method, validators: stored, exists: exists)
    }

    @Test("Without conditions the request proceeds, with its range if it has a valid one: RFC 9110 §13.2.2, §14.2")
    func withoutConditions() {
        #expect(evaluate([:]) == .proceed(rangeApplies: false))
        #expect(evaluate([.range: "bytes=0-1"]) == .proceed(rangeApplies: true))
        #expect(evaluate([.range: "bytes=2-1"]) == .proceed(rangeApplies: false))
        #expect(evaluate([.range: "items=0-1"]) == .proceed(rangeApplies: false))
        #expect(evaluate([.range: "bytes=0-1"], method: .head) == .proceed(rangeApplies: false))
    }

    @Test(
        "If-Match needs a strong match, else 412: RFC 9110 §13.1.1",
        arguments: [
            ("\"a\"", true), ("\"b\", \"a\"", true), ("*", true), ("W/\"a\"", false), ("\"b\"", false), ("a", false),
            ("", false),
        ])
    func ifMatch(value: String, proceeds: Bool) {
        #expect(evaluate([.ifMatch: value]) == (proceeds ? .proceed(rangeApplies: false) : .preconditionFailed))
    }

    @Test("A weak stored tag satisfies no If-Match: RFC 9110 §13.1.1")
    func ifMatchAgainstWeakTag() {
        let weak = Validators(etag: tag("a", isWeak: true))
        #expect(evaluatePreconditions([.ifMatch: "\"a\""], validators: weak) == .preconditionFailed)
        #expect(evaluatePreconditions([.ifMatch: "W/\"a\""], validators: weak) == .preconditionFailed)
        #expect(evaluatePreconditions([.ifMatch: "*"], validators: weak) == .proceed(rangeApplies: false))
    }

    @Test("If-Match: * fails where nothing exists, If-None-Match: * then holds: RFC 9110 §13.1.1, §13.1.2")
    func starWithoutRepresentation() {
        #expect(evaluate([.ifMatch: "*"], exists: false) == .preconditionFailed)
        #expect(evaluate([.ifNoneMatch: "*"], exists: false) == .proceed(rangeApplies: false))
        #expect(evaluate([.ifNoneMatch: "*"]) == .notModified)
    }

    @Test(
        "If-Unmodified-Since fails once modified later: RFC 9110 §13.1.4",
        arguments: [(modified, true), (later, true), (earlier, false), ("garbage", true)])
    func ifUnmodifiedSince(value: String, proceeds: Bool) {
        #expect(
            evaluate([.ifUnmodifiedSince: value]) == (proceeds ? .proceed(rangeApplies: false) : .preconditionFailed))
        #expect(
            evaluatePreconditions([.ifUnmodifiedSince: value], validators: Validators())
                == .proceed(rangeApplies: false))
    }

    @Test("If-Match overrides If-Unmodified-Since: RFC 9110 §13.2.2 step 2")
    func ifMatchComesFirst() {
        #expect(evaluate([.ifMatch: "\"a\"", .ifUnmodifiedSince: Self.earlier]) == .proceed(rangeApplies: false))
        #expect(evaluate([.ifMatch: "\"b\"", .ifUnmodifiedSince: Self.later]) == .preconditionFailed)
    }

    @Test(
        "If-None-Match matches weakly, and gives 304: RFC 9110 §13.1.2",
        arguments: [("\"a\"", true), ("W/\"a\"", true), ("\"b\", W/\"a\"", true), ("\"b\"", false), ("a", false)])
    func ifNoneMatch(value: String, isCurrent: Bool) {
        #expect(evaluate([.ifNoneMatch: value]) == (isCurrent ? .notModified : .proceed(rangeApplies: false)))
        #expect(
            evaluate([.ifNoneMatch: value], method: .head) == (isCurrent ? .notModified : .proceed(rangeApplies: false))
        )
        #expect(
            evaluate([.ifNoneMatch: value], method: .put)
                == (isCurrent ? .preconditionFailed : .proceed(rangeApplies: false)))
    }

    @Test(
        "If-Modified-Since gives 304 unless modified later, for GET and HEAD: RFC 9110 §13.1.3",
        arguments: [(modified, true), (later, true), (earlier, false), ("garbage", false)])
    func ifModifiedSince(value: String, isCurrent: Bool) {
        #expect(evaluate([.ifModifiedSince: value]) == (isCurrent ? .notModified : .proceed(rangeApplies: false)))
        #expect(evaluate([.ifModifiedSince: value], method: .post) == .proceed(rangeApplies: false))
        #expect(
            evaluatePreconditions([.ifModifiedSince: value], validators: Validators()) == .proceed(rangeApplies: false))
    }

    @Test("If-None-Match overrides If-Modified-Since: RFC 9110 §13.2.2 step 4")
    func ifNoneMatchComesFirst() {
        #expect(evaluate([.ifNoneMatch: "\"b\"", .ifModifiedSince: Self.later]) == .proceed(rangeApplies: false))
        #expect(evaluate([.ifNoneMatch: "\"a\"", .ifModifiedSince: Self.earlier]) == .notModified)
    }

    @Test(
        "If-Range lets the range apply only if the representation is unchanged: RFC 9110 §13.1.5",
        arguments: [
            ("\"a\"", true), ("W/\"a\"", false), ("\"b\"", false), (modified, true), (later, false), (earlier, false),
            ("garbage", false),
        ])
    func ifRange(value: String, applies: Bool) {
        #expect(evaluate([.range: "bytes=0-1", .ifRange: value]) == .proceed(rangeApplies: applies))
        #expect(evaluate([.ifRange: value]) == .proceed(rangeApplies: false))
    }

    @Test("304 and 412 come before If-Range: RFC 9110 §13.2.2 step 5")
    func ifRangeComesLast() {
        let range: HTTPFields = [.range: "bytes=0-1", .ifRange: "\"a\"", .ifNoneMatch: "\"a\""]
        #expect(evaluate(range) == .notModified)
        #expect(evaluate([.range: "bytes=0-1", .ifRange: "\"a\"", .ifMatch: "\"b\""]) == .preconditionFailed)
        #expect(
            evaluate([.range: "bytes=0-1", .ifRange: "\"a\"", .ifMatch: "\"a\"", .ifNoneMatch: "\"b\""])
                == .proceed(rangeApplies: true))
    }
}
