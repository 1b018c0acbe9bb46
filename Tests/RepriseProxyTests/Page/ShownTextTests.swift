import TestLimits
import Testing

@testable import RepriseProxy

@Suite(.limit(minutes: 1)) struct ShownTextTests {
    @Test(
        "only the whole is 100 %",
        arguments: [
            (0, 0, "0 %"), (0, 10, "0 %"), (1, 3, "33 %"), (999_999, 1_000_000, "99 %"), (10, 10, "100 %"),
            (20, 10, "100 %"), (-5, 10, "0 %"),
        ] as [(Int64, Int64, String)]) func percent(part: Int64, whole: Int64, text: String)
    {
        #expect(ShownText.percent(part, of: whole) == text)
    }

    @Test("n of 100 are n %, as bytes and as a fraction") func everyPercentage() {
        for number in 0...100 {
            for scale: Int64 in [1, 7, 10_000_000_000] {
                #expect(ShownText.percent(Int64(number) * scale, of: 100 * scale) == "\(number) %")
            }
            #expect(ShownText.percent(Double(number) / 100) == "\(number) %")
        }
        #expect(ShownText.percent(0.999_999_999_999) == "99 %")
        #expect(ShownText.percent(.infinity) == "100 %")
    }

    @Test(
        arguments: [
            (0, "0 seconds"), (1.9, "1 second"), (59.9, "59 seconds"), (60, "1 minute"), (7199, "1 hour"),
            (172_800, "2 days"), (-3, "0 seconds"), (.nan, "0 seconds"), (.infinity, "115740 days"),
        ] as [(Double, String)]) func durations(seconds: Double, text: String)
    {
        #expect(ShownText.duration(seconds) == text)
    }

    @Test(
        "a title is called by the last part of its path",
        arguments: [
            ("https://a.example/films/one%20two.mp4", "one two.mp4", "a.example"),
            ("http://a.example:8080/", "a.example:8080", "a.example:8080"), ("https://a.example/x/", "x", "a.example"),
            ("https://a.example/%zz.mp4", "%zz.mp4", "a.example"), ("https://a.example/%3Cb%3E", "<b>", "a.example"),
            ("https://a.example/film.mp4?…", "film.mp4", "a.example"),
            ("https://a.example/%E2%80%AEfilm%E2%80%AC%E2%81%A6.mp4%E2%81%A9", "film.mp4", "a.example"),
        ]) func names(url: String, file: String, host: String)
    {
        let name = ShownText.name(of: url)
        #expect(name.file == file)
        #expect(name.host == host)
    }

    @Test("names keep marks of direction, and lose what turns around the text behind them (UAX #9 §2)")
    func turnedText() {
        let turning = [
            "\u{202A}", "\u{202B}", "\u{202C}", "\u{202D}", "\u{202E}", "\u{2066}", "\u{2067}", "\u{2068}", "\u{2069}",
        ]
        for character in turning { #expect(ShownText.plain("a\(character)b") == "ab") }
        for text in ["a\u{200E}b", "a\u{200F}b", "שלום", "a\u{2065}b"] { #expect(ShownText.plain(text) == text) }
    }

    @Test("a stream is complete only if it plays, whatever its playlist's own bytes are") func streams() {
        func words(_ share: Double?, isComplete: Bool = false, files: Int = 3) -> String {
            ShownText.stream(6_100_000, files: files, share: share, isComplete: isComplete)
        }
        #expect(words(1, isComplete: true) == "6.10 MB in 3 files, plays without a network")
        #expect(words(0.999) == "99 % stored, 6.10 MB in 3 files")
        #expect(words(0, files: 1) == "0 % stored, 6.10 MB in 1 file")
        #expect(words(nil) == "6.10 MB in 3 files, of unknown share")
    }

    @Test func storedBytes() {
        #expect(ShownText.stored(250, of: 1000, parts: 3) == "25 % of 1.00 kB stored, 3 parts")
        #expect(ShownText.stored(250, of: 1000, parts: 1) == "25 % of 1.00 kB stored")
        #expect(ShownText.stored(1000, of: 1000, parts: 1) == "1.00 kB, all stored")
        #expect(ShownText.stored(250, of: nil, parts: 1) == "250 B stored")
    }
}
