import Testing

@testable import RepriseCLI

/// WebVTT segments that become one text.
@Suite struct SubtitleTextTests {
    private static func joined(_ segments: String...) -> String {
        var text = SubtitleText()
        for segment in segments { text.add(segment) }
        return text.text
    }

    @Test("headers and comments go, and a cue that several segments have is there once") func joins() {
        let cue = "a\n00:00:03.000 --> 00:00:05.000 line:10%\nOne <i>line</i>\nand another"
        let text = Self.joined(
            "\u{FEFF}WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:900000,LOCAL:00:00:00.000\n\nNOTE Mine\n\n\(cue)",
            "WEBVTT\r\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:900000\r\n\r\n"
                + cue.split(separator: "\n").joined(separator: "\r\n") + "\r\n\r\n06:01.500 --> 06:02.000\r\nTwo\r\n",
            "WEBVTT\n")
        #expect(text == "WEBVTT\n\n\(cue)\n\n06:01.500 --> 06:02.000\nTwo\n")
    }

    @Test("RFC 8216 §3.5: times count from what a segment's map says") func maps() {
        func segment(_ ticks: Int, local: String = "00:00:00.000") -> String {
            "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:\(ticks),LOCAL:\(local)\n\n00:00:01.000 --> 00:59.750 line:0\nAt \(ticks)\n"
        }
        let text = Self.joined(
            segment(900_000), segment(900_000 + 4 * 90_000), segment(900_000 + 4 * 90_000, local: "00:00:05.000"))
        #expect(
            text == """
                WEBVTT

                00:00:01.000 --> 00:59.750 line:0
                At 900000

                00:00:05.000 --> 00:01:03.750 line:0
                At 1260000

                00:00:00.000 --> 00:00:58.750 line:0
                At 1260000

                """)
    }

    @Test(arguments: ["", "WEBVTT", "X", "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:x,LOCAL:y\n"])
    func oddOnes(segment: String) {
        let text = Self.joined(segment)
        #expect(text == (segment == "X" ? "WEBVTT\n\nX\n" : "WEBVTT\n"))
    }
}
