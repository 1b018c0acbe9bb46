import HTTPSemantics
import Testing

@Suite("HTTP-date") struct HTTPDateTests {
    // Sat, 21 Nov 2026 12:00:00 GMT
    let now = HTTPDate(secondsSince1970: 1_795_262_400)

    @Test(
        "The three forms of RFC 9110 §5.6.7 name the same moment",
        arguments: ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"])
    func threeFormsParse(value: String) {
        #expect(HTTPDate(value, now: now)?.secondsSince1970 == 784_111_777)
        #expect(HTTPDate(value)?.secondsSince1970 == 784_111_777)
    }

    @Test("Dates are printed as IMF-fixdate: RFC 9110 §5.6.7")
    func printsIMFFixdate() {
        #expect(HTTPDate(secondsSince1970: 784_111_777).description == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate(secondsSince1970: 0).description == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(HTTPDate(secondsSince1970: -1).description == "Wed, 31 Dec 1969 23:59:59 GMT")
        #expect(HTTPDate(secondsSince1970: 1_795_262_400).description == "Sat, 21 Nov 2026 12:00:00 GMT")
    }

    @Test("Every day agrees with a calendar that counts days one by one, 1970 to 2110")
    func everyDayAgreesWithCounting() {
        let names = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        var days = 0
        for year in 1970...2110 {
            let isLeap = year == 2000 || year % 4 == 0 && year != 2100
            for (index, length) in [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].enumerated() {
                for day in 1...length {
                    let digits = day < 10 ? "0\(day)" : "\(day)"
                    let expected = "\(names[days % 7]), \(digits) \(months[index]) \(year) 23:59:59 GMT"
                    let date = HTTPDate(secondsSince1970: Int64(days) * 86_400 + 86_399)
                    if date.description != expected || HTTPDate(expected) != date {
                        Issue.record("\(expected): printed \(date), parsed \(String(describing: HTTPDate(expected)))")
                        return
                    }
                    days += 1
                }
            }
        }
    }

    @Test("29 February exists in leap years only: RFC 9110 §5.6.7 means the Gregorian calendar")
    func leapDays() {
        #expect(HTTPDate("Tue, 29 Feb 2000 00:00:00 GMT")?.secondsSince1970 == 951_782_400)
        #expect(HTTPDate("Mon, 29 Feb 2100 00:00:00 GMT") == nil)
        #expect(HTTPDate("Tue, 29 Feb 2023 00:00:00 GMT") == nil)
        #expect(HTTPDate("Thu, 29 Feb 2024 00:00:00 GMT") != nil)
    }

    @Test("A leap second is the next minute's first: RFC 9110 §5.6.7 allows 60")
    func leapSecondIsAccepted() {
        #expect(
            HTTPDate("Sat, 31 Dec 2016 23:59:60 GMT") == HTTPDate("Sun, 01 Jan 2017 00:00:00 GMT"))
    }

    @Test(
        "A two-digit year is at most 50 years ahead: RFC 9110 §5.6.7",
        arguments: [
            ("Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("Saturday, 21-Nov-26 12:00:00 GMT", "Sat, 21 Nov 2026 12:00:00 GMT"),
            ("Saturday, 21-Nov-76 12:00:00 GMT", "Sat, 21 Nov 2076 12:00:00 GMT"),
            ("Sunday, 21-Nov-76 12:00:01 GMT", "Sun, 21 Nov 1976 12:00:01 GMT"),
            ("Monday, 01-Jan-77 00:00:00 GMT", "Sat, 01 Jan 1977 00:00:00 GMT"),
            ("Saturday, 01-Jan-00 00:00:00 GMT", "Sat, 01 Jan 2000 00:00:00 GMT"),
        ])
    func twoDigitYearsAreRelativeToNow(value: String, expected: String) {
        #expect(HTTPDate(value, now: now)?.description == expected)
    }

    @Test("Near a turn of the century the year is in the next one: RFC 9110 §5.6.7")
    func twoDigitYearsCrossTheCentury() throws {
        let lateInCentury = try #require(HTTPDate("Wed, 01 Jul 2099 00:00:00 GMT"))
        #expect(
            HTTPDate("Saturday, 01-Jan-01 00:00:00 GMT", now: lateInCentury)?.description
                == "Sat, 01 Jan 2101 00:00:00 GMT")
    }

    @Test("Names may come in any case", arguments: ["sun, 06 Nov 1994 08:49:37 GMT", "SUN, 06 nOV 1994 08:49:37 gmt"])
    func namesInAnyCase(value: String) {
        #expect(HTTPDate(value)?.description == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test(
        "Anything else is no date",
        arguments: [
            "", "0", "-1", "Sun", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
            "Sun, 06 Now 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT GMT", "Sunday, 06 Nov 1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
            "Sun, 06 Nov 99999 08:49:37 GMT", "Sün, 06 Nov 1994 08:49:37 GMT", "784111777", "1994-11-06T08:49:37Z",
        ])
    func anythingElseIsNoDate(value: String) {
        #expect(HTTPDate(value, now: now) == nil)
    }

    @Test("Moments outside the four-digit years are clamped and do not trap")
    func extremesAreClamped() {
        #expect(HTTPDate(secondsSince1970: .max).description == "Fri, 31 Dec 9999 23:59:59 GMT")
        #expect(HTTPDate(secondsSince1970: .min).description == "Sat, 01 Jan 0000 00:00:00 GMT")
        #expect(HTTPDate(secondsSince1970: .min) < HTTPDate(secondsSince1970: .max))
        #expect(HTTPDate("Sat, 01 Jan 0000 00:00:00 GMT") == HTTPDate(secondsSince1970: .min))
    }
}
