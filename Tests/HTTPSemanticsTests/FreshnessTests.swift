import HTTPSemantics
import HTTPTypes
import Testing

@Suite("Freshness") struct FreshnessTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT; the time of the request and the response, unless a test says otherwise.
    let start: Int64 = 784_111_777

    func at(_ seconds: Int64) -> HTTPDate { HTTPDate(secondsSince1970: start + seconds) }

    func freshness(_ fields: HTTPFields, delay: Int64 = 0, isShared: Bool = false) -> Freshness {
        Freshness(fields, requestTime: at(-delay), responseTime: at(0), isShared: isShared)
    }

    @Test("s-maxage, max-age, Expires, heuristic, in this order: RFC 9111 §4.2.1")
    func lifetimeByPrecedence() {
        var fields: HTTPFields = [
            .cacheControl: "s-maxage=1, max-age=2", .date: at(0).description, .expires: at(3).description,
            .lastModified: at(-40).description,
        ]
        #expect(freshness(fields, isShared: true).lifetime == 1)
        #expect(freshness(fields).lifetime == 2)
        fields[.cacheControl] = nil
        #expect(freshness(fields).lifetime == 3)
        #expect(!freshness(fields).isHeuristic)
        fields[.expires] = nil
        #expect(freshness(fields).lifetime == 4)
        #expect(freshness(fields).isHeuristic)
    }

    @Test("Expires counts from Date, and an invalid one has passed: RFC 9111 §5.3", arguments: ["0", "-1", "soon", ""])
    func invalidExpiresHasPassed(value: String) {
        let fields: HTTPFields = [.expires: value, .lastModified: at(-1000).description]
        #expect(freshness(fields).lifetime == 0)
        #expect(freshness([.expires: at(-5).description]).lifetime == 0)
        #expect(freshness([.expires: at(60).description]).lifetime == 60, "a missing Date is the response's time")
        #expect(freshness([.date: at(-10).description, .expires: at(60).description]).lifetime == 70)
    }

    @Test("The first of two Expires counts: RFC 9111 §4.2.1")
    func firstExpiresCounts() {
        #expect(freshness([.expires: at(60).description, .expires: at(90).description]).lifetime == 60)
    }

    @Test("The heuristic is a tenth of the unchanged time, a day at most: RFC 9111 §4.2.2")
    func heuristicLifetime() {
        #expect(freshness([.lastModified: at(-1000).description]).lifetime == 100)
        #expect(freshness([.lastModified: at(-864_000).description]).lifetime == 86_400)
        #expect(freshness([.lastModified: at(-864_001_000).description]).lifetime == 86_400)
        #expect(freshness([.lastModified: at(1000).description]).lifetime == 0)
        #expect(freshness([.eTag: "\"a\""]).lifetime == 0)
        #expect(freshness([.cacheControl: "max-age=0", .lastModified: at(-1000).description]).lifetime == 0)
        #expect(freshness([.cacheControl: "max-age=x", .lastModified: at(-1000).description]).lifetime == 0)
    }

    @Test("The age is the larger of apparent and corrected age, plus residence: RFC 9111 §4.2.3")
    func currentAge() {
        #expect(freshness([.date: at(0).description]).currentAge(now: at(7)) == 7)
        #expect(freshness([.date: at(-30).description]).currentAge(now: at(7)) == 37)
        #expect(freshness([.age: "50", .date: at(-30).description], delay: 4).currentAge(now: at(7)) == 61)
        #expect(freshness([.age: "10", .date: at(-30).description], delay: 4).currentAge(now: at(7)) == 37)
        #expect(freshness([.date: at(100).description]).currentAge(now: at(7)) == 7, "a Date ahead is no negative age")
    }

    @Test("A clock that was set back does not make a response younger: RFC 9111 §4.2.3")
    func clockSetBack() {
        let aged = freshness([.age: "50"], delay: -100)
        #expect(aged.currentAge(now: at(-1000)) == 50)
    }

    @Test(
        "The first value of Age counts, unless it is invalid: RFC 9111 §5.1",
        arguments: [
            ("10, 20", Int64(10)), ("abc", 0), ("-5", 0), ("5x", 0), ("", 0), ("99999999999999999999", 2_147_483_648),
        ])
    func ageField(value: String, expected: Int64) {
        #expect(freshness([.age: value]).currentAge(now: at(0)) == expected)
    }

    @Test("Fresh while the lifetime exceeds the age: RFC 9111 §4.2")
    func freshWhileYounger() {
        let minute = freshness([.cacheControl: "max-age=60"])
        #expect(minute.isFresh(now: at(59)))
        #expect(!minute.isFresh(now: at(60)))
        #expect(minute.staleness(now: at(75)) == 15)
        #expect(!freshness([.cacheControl: "max-age=60, no-cache"]).isFresh(now: at(0)))
        #expect(freshness([.cacheControl: "max-age=60, no-cache=\"set-cookie\""]).isFresh(now: at(0)))
        #expect(freshness([.cacheControl: "max-age=60, immutable"]).isImmutable)
    }

    @Test("Staleness windows open after the lifetime: RFC 5861 §3, §4")
    func stalenessWindows() {
        let fields: HTTPFields = [.cacheControl: "max-age=600, stale-while-revalidate=30, stale-if-error=1200"]
        let windows = freshness(fields)
        #expect(windows.mayServeStale(because: .revalidating, now: at(0)))
        #expect(windows.mayServeStale(because: .revalidating, now: at(630)))
        #expect(!windows.mayServeStale(because: .revalidating, now: at(631)))
        #expect(windows.mayServeStale(because: .error, now: at(1800)))
        #expect(!windows.mayServeStale(because: .error, now: at(1801)))
        #expect(windows.mayServeStale(because: .disconnected, now: at(1_000_000)))
        let none = freshness([.cacheControl: "max-age=1"])
        #expect(!none.mayServeStale(because: .revalidating, now: at(2)))
        #expect(!none.mayServeStale(because: .error, now: at(2)))
    }

    @Test(
        "What must be validated is never served stale: RFC 9111 §4.2.4",
        arguments: [
            ("must-revalidate", false, true), ("no-cache", false, true), ("proxy-revalidate", false, false),
            ("proxy-revalidate", true, true), ("s-maxage=1", false, false), ("s-maxage=1", true, true),
        ])
    func forbiddenStaleness(directive: String, isShared: Bool, isForbidden: Bool) {
        let fields: HTTPFields = [.cacheControl: "\(directive), max-age=1, stale-if-error=999"]
        let stale = freshness(fields, isShared: isShared)
        #expect(stale.mayServeStale(because: .disconnected, now: at(10)) == !isForbidden)
        #expect(stale.mayServeStale(because: .error, now: at(10)) == !isForbidden)
        #expect(stale.satisfies(CacheControl("max-stale"), now: at(10)) == !isForbidden)
    }

    @Test(
        "Request directives narrow or widen what is acceptable: RFC 9111 §5.2.1",
        arguments: [
            ("", Int64(50), true), ("", 60, false), ("no-cache", 0, false), ("max-age=10", 10, true),
            ("max-age=10", 11, false), ("max-age=10, max-stale", 11, true), ("min-fresh=10", 50, true),
            ("min-fresh=10", 51, false), ("max-stale", 1000, true), ("max-stale=5", 65, true),
            ("max-stale=5", 66, false),
        ])
    func requestDirectives(directives: String, age: Int64, expected: Bool) {
        #expect(freshness([.cacheControl: "max-age=60"]).satisfies(CacheControl(directives), now: at(age)) == expected)
    }
}
