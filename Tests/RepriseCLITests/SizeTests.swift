import Testing

@testable import RepriseCLI

/// Sizes as people write and read them.
@Suite struct SizeTests {
    @Test(
        arguments: [
            ("0", 0), ("0B", 0), ("4096B", 4096), ("20 B", 20), ("1b", 1), ("2kB", 2_000), ("2 k", 2_000),
            ("2KiB", 2_048),
            ("500MB", 500_000_000),
            ("500 MB", 500_000_000), ("1_000_000B", 1_000_000), ("1.5GiB", 1_610_612_736), ("1.5g", 1_500_000_000),
            ("0.5kB", 500), (".5kB", 500), ("2GB", 2_000_000_000), ("3tb", 3_000_000_000_000),
            ("1TiB", 1_099_511_627_776),
            ("8192TiB", 9_007_199_254_740_992),
        ] as [(String, Int64)])
    func decimalAndBinaryUnitsAreRead(text: String, bytes: Int64) {
        #expect(ByteCount(argument: text)?.bytes == bytes)
    }

    @Test(
        arguments: [
            "", " ", "20", "4096", "0.5", "1_000_000", "GB", "-1", "-1GB", "+1", "1XB", "1 GBs", "1e3", "1.2.3",
            "1,5GB", "0x10", "inf", "nan", "٣GB",
            "½GB",
            "8192.1TiB", "9007199254740994", "8388607TiB", "99999999999999999999", "lots",
        ])
    func whatIsNoSizeIsRefused(text: String) {
        #expect(ByteCount(argument: text) == nil)
    }

    @Test(
        arguments: [
            (0, "0 B"), (1, "1 B"), (999, "999 B"), (1_000, "1.00 kB"), (1_006, "1.01 kB"), (1_234, "1.23 kB"),
            (9_994, "9.99 kB"), (9_995, "10.0 kB"), (99_949, "99.9 kB"), (99_950, "100 kB"), (999_499, "999 kB"),
            (999_500, "1.00 MB"), (500_000_000, "500 MB"), (2_000_000_000, "2.00 GB"), (1_500_000_000_000, "1.50 TB"),
            (.max, "9223 PB"), (-1_500, "-1.50 kB"), (-7, "-7 B"), (.min, "-9223 PB"),
        ] as [(Int64, String)])
    func threeDigitsAndAUnitAreWritten(bytes: Int64, text: String) {
        #expect("\(ByteCount(bytes))" == text)
    }

    @Test func whatIsWrittenReadsBackWithinHalfOfTheLastDigit() throws {
        var bytes: Int64 = 1
        while bytes < 1_000_000_000_000_000 / 3 {
            let text = "\(ByteCount(bytes))"
            let back = try #require(ByteCount(argument: text), "\(text)").bytes
            #expect(abs(back - bytes) <= bytes / 199, "\(bytes) is written \(text)")
            bytes = bytes * 3 + 1
        }
    }
}
