import Foundation
import RepriseTesting
import TestLimits
import Testing

@testable import Reprise

/// Hours of a day, in time zones and across changes of the clock.
@Suite(.limit(minutes: 1)) struct DailyWindowTests {
    /// So many hours after midnight (UTC).
    private static func time(_ hours: Double) -> Date { Date(timeIntervalSince1970: 1_750_032_000 + hours * 3600) }

    private static func window(_ text: String, in zone: TimeZone = .gmt) throws -> DailyWindow {
        var window = try DailyWindow(text)
        window.timeZone = zone
        return window
    }

    @Test(
        arguments: [
            ("02:00-06:00", 1.99, false, 36), ("02:00-06:00", 2, true, 4 * 3600), ("02:00-06:00", 5.99, true, 36),
            ("02:00-06:00", 6, false, 20 * 3600), ("22:30-01:00", 22.5, true, 9000), ("22:30-01:00", 0, true, 3600),
            ("22:30-01:00", 1, false, 77_400), ("22:30-01:00", 12, false, 37_800), ("00:00-12:00", 0, true, 43_200),
            ("12:00-24:00", 23.5, true, 1800), ("12:00-24:00", 0, false, 43_200), ("23:00-00:00", 23, true, 3600),
        ] as [(String, Double, Bool, Int)])
    func aTimeLiesWithinOrNot(text: String, hours: Double, isOpen: Bool, remaining: Int) throws {
        let state = try Self.window(text).state(at: Self.time(hours))
        #expect(state.isOpen == isOpen)
        #expect(state.remaining == .seconds(remaining))
    }

    @Test("every minute of a day against counting")
    func model() throws {
        var random = SeededGenerator(seed: 60)
        for _ in 0..<60 {
            let (start, end) = (Int.random(in: 0..<1440, using: &random), Int.random(in: 0..<1440, using: &random))
            guard start != end else { continue }
            let window = try DailyWindow(start: .seconds(start * 60), end: .seconds(end * 60))
            var inZone = window
            inZone.timeZone = .gmt
            var open = Set<Int>()
            var minute = start
            while minute != end {
                open.insert(minute)
                minute = (minute + 1) % 1440
            }
            for minute in 0..<1440 {
                #expect(inZone.contains(Self.time(Double(minute) / 60)) == open.contains(minute), "\(window) \(minute)")
            }
        }
    }

    @Test("local time is that of the zone, also on the days when the clock is changed")
    func daylightSaving() throws {
        let berlin = try #require(TimeZone(identifier: "Europe/Berlin"))
        let window = try Self.window("02:00-06:00", in: berlin)
        func utc(_ text: String) throws -> Date { try Date(text, strategy: .iso8601) }
        // Winter, UTC+1; summer, UTC+2.
        for (text, isOpen) in [
            ("2025-01-10T00:59:59Z", false), ("2025-01-10T01:00:00Z", true), ("2025-01-10T05:00:00Z", false),
            ("2025-07-10T00:00:00Z", true), ("2025-07-10T04:00:00Z", false),
            // 02:00 is 03:00 at once; three hours are left of the window.
            ("2025-03-30T00:59:59Z", false), ("2025-03-30T01:00:00Z", true), ("2025-03-30T03:59:59Z", true),
            ("2025-03-30T04:00:00Z", false),
            // 02:00 to 03:00 comes twice.
            ("2025-10-26T00:00:00Z", true), ("2025-10-26T01:30:00Z", true), ("2025-10-26T04:59:59Z", true),
            ("2025-10-26T05:00:00Z", false),
        ] {
            #expect(window.contains(try utc(text)) == isOpen, "\(text)")
        }
        #expect(window.state(at: try utc("2025-01-10T00:59:59Z")).remaining == .seconds(1))
    }

    @Test func withoutAZoneItIsTheDevices() throws {
        let now = Date(timeIntervalSince1970: 1_750_032_000)
        for hour in 0..<24 {
            let window = try DailyWindow(start: .seconds(hour * 3600), end: .seconds((hour * 3600 + 3600)))
            var local = window
            local.timeZone = .current
            #expect(window.contains(now) == local.contains(now), "\(window)")
        }
    }

    @Test(arguments: ["02:00-06:00", "22:30-06:00", "00:00-23:59"])
    func itIsWrittenAsItIsRead(text: String) throws { #expect(try DailyWindow(text).description == text) }

    @Test func variantsOfTextAreRead() throws {
        #expect(try DailyWindow("2:00 - 6:00").description == "02:00-06:00")
        #expect(try DailyWindow("18:00-24:00").description == "18:00-00:00")
        #expect(try DailyWindow(start: .zero, end: .seconds(86_400 - 1)).state(at: Self.time(5)).isOpen)
    }

    @Test(
        arguments: [
            "", "-", "02:00", "02:00-", "-06:00", "02:00-06:00-08:00", "2-6", "02:60-06:00", "24:01-06:00",
            "25:00-06:00", "02:00-02:00", "00:00-24:00", "02:0-06:00", "02:000-06:00", "a2:00-06:00", "+2:00-06:00",
            "02:00–06:00", "٠٢:00-06:00",
        ])
    func otherTextIsRefused(text: String) {
        let error = #expect(throws: RepriseError.self) { try DailyWindow(text) }
        #expect(error?.code == .invalidArgument)
    }

    @Test(arguments: [(-1, 3600), (0, 86_401), (3600, 3600), (0, 86_400)])
    func otherTimesAreRefused(start: Int, end: Int) {
        #expect(throws: RepriseError.self) { try DailyWindow(start: .seconds(start), end: .seconds(end)) }
    }
}
