import ByteRanges
import Foundation
import Testing

@testable import RepriseCLI

@Suite struct ByteCountTests {
    @Test(
        "sizes as people write them",
        arguments: [
            ("0", 0), ("4096B", 4096), ("500MB", 500_000_000), ("500 mb", 500_000_000), ("2GB", 2_000_000_000),
            ("1.5GiB", 1_610_612_736), ("1kib", 1024), ("3t", 3_000_000_000_000),
        ] as [(String, Int64)])
    func parsing(text: String, bytes: Int64) {
        #expect(ByteCount(argument: text)?.bytes == bytes)
    }

    @Test("nonsense is refused", arguments: ["", "GB", "-1", "1XB", "1.2.3MB", "99999999999999999999", "1e400"])
    func nonsense(text: String) {
        #expect(ByteCount(argument: text) == nil)
    }

    @Test("no number is too large, or none, to be shown", arguments: [1e308, -.infinity, .nan, 1e15])
    func fixedDigits(_ value: Double) {
        for digits in 0...2 { #expect(!ByteCount.fixed(value, digits: digits).isEmpty) }
        #expect(ByteCount.fixed(1e15, digits: 0) == "1000000000000000")
    }

    @Test(
        "three significant digits",
        arguments: [
            (0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (9994, "9.99 kB"), (12_345, "12.3 kB"),
            (999_499, "999 kB"), (999_500, "1.00 MB"), (2_000_000_000, "2.00 GB"), (-1500, "-1.50 kB"),
        ] as [(Int64, String)])
    func printing(bytes: Int64, text: String) {
        #expect(ByteCount(bytes).description == text)
    }
}

@Suite struct LogLineTests {
    @Test("the message comes first, then the fields by name, in quotation marks if they are no single words")
    func line() {
        let line = LineLogHandler.line(
            "notice", "served\u{1B} stale",
            ["url": "http://a.example/b", "reason": "the \"origin\" is away", "count": "2", "empty": ""],
            at: Date(timeIntervalSince1970: 1_795_255_289))
        #expect(
            line
                == #"2026-11-21T10:01:29Z notice reprise: served stale count=2 empty="" reason="the \"origin\" is away" "#
                + "url=http://a.example/b")
    }
}

@Suite struct BarTests {
    @Test func aProgressBarFillsByEighths() {
        #expect(Bar.progress(0, width: 4) == "    ")
        #expect(Bar.progress(0.5, width: 4) == "██  ")
        #expect(Bar.progress(0.53125, width: 4) == "██▏ ")
        #expect(Bar.progress(1, width: 4) == "████")
        #expect(Bar.progress(7, width: 4) == "████")
        #expect(Bar.progress(-1, width: 4) == "    ")
    }

    @Test func coverageNeverHidesAByteOrAHole() {
        #expect(Bar.coverage([0..<100], length: 100, width: 10) == "██████████")
        #expect(Bar.coverage([], length: 100, width: 10) == "··········")
        #expect(
            Bar.coverage(ByteRangeSet([0..<10, 15..<20, 30..<31, 49..<58]), length: 100, width: 10) == "█▒·░░▓····")
        #expect(Bar.coverage(ByteRangeSet(0..<999_999), length: 1_000_000, width: 2) == "█▓")
        #expect(Bar.coverage(ByteRangeSet(5..<6), length: 1_000_000_000_000, width: 3) == "░··")
    }

    @Test func aFileShorterThanTheBarIsShownAllTheSame() {
        #expect(Bar.coverage([0..<1], length: 2, width: 4).count == 4)
        #expect(Bar.coverage([], length: 0, width: 4) == "")
    }
}
