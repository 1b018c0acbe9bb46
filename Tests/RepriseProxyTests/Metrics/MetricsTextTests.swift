import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseProxy

/// The text formats, read back by a reader that knows only their specifications.
@Suite(.limit(minutes: 1)) struct MetricsTextTests {
    private typealias Sample = MetricFamily.Sample

    private static func histogram(_ milliseconds: [Int]) -> LatencyHistogram {
        var histogram = LatencyHistogram()
        for duration in milliseconds { histogram.note(.milliseconds(duration)) }
        return histogram
    }

    private static let families = [
        MetricFamily(
            "a_bytes_total", .counter, "Bytes.",
            [Sample(.integer(3), ["from": "x"]), Sample(.integer(4), ["from": "y"])]),
        MetricFamily("b_seconds", .histogram, "Time.", [Sample(.histogram(histogram([1, 3, 20_000])), ["of": "z"])]),
        MetricFamily("c", .gauge, "Now.", [Sample(.number(0.5))]),
        MetricFamily("d_total", .counter, "Nothing yet.", []),
    ]

    @Test("Exposition formats, text format 0.0.4: its example of each kind") func prometheus() {
        let text = MetricsText.text(Self.families, as: .prometheus)
        #expect(
            text == """
                # HELP a_bytes_total Bytes.
                # TYPE a_bytes_total counter
                a_bytes_total{from="x"} 3
                a_bytes_total{from="y"} 4
                # HELP b_seconds Time.
                # TYPE b_seconds histogram
                b_seconds_bucket{of="z",le="0.001"} 1
                b_seconds_bucket{of="z",le="0.0025"} 1
                b_seconds_bucket{of="z",le="0.005"} 2
                b_seconds_bucket{of="z",le="0.01"} 2
                b_seconds_bucket{of="z",le="0.025"} 2
                b_seconds_bucket{of="z",le="0.05"} 2
                b_seconds_bucket{of="z",le="0.1"} 2
                b_seconds_bucket{of="z",le="0.25"} 2
                b_seconds_bucket{of="z",le="0.5"} 2
                b_seconds_bucket{of="z",le="1.0"} 2
                b_seconds_bucket{of="z",le="2.5"} 2
                b_seconds_bucket{of="z",le="5.0"} 2
                b_seconds_bucket{of="z",le="10.0"} 2
                b_seconds_bucket{of="z",le="+Inf"} 3
                b_seconds_sum{of="z"} 20.004
                b_seconds_count{of="z"} 3
                # HELP c Now.
                # TYPE c gauge
                c 0.5
                # HELP d_total Nothing yet.
                # TYPE d_total counter

                """)
    }

    @Test("OpenMetrics 1.0: units, families of counters without their suffix, and an end") func openMetrics() throws {
        let text = MetricsText.text(Self.families, as: .openMetrics)
        #expect(
            text.hasPrefix(
                """
                # HELP a_bytes Bytes.
                # TYPE a_bytes counter
                # UNIT a_bytes bytes
                a_bytes_total{from="x"} 3
                a_bytes_total{from="y"} 4
                # HELP b_seconds Time.
                # TYPE b_seconds histogram
                # UNIT b_seconds seconds

                """))
        #expect(text.hasSuffix("# HELP d Nothing yet.\n# TYPE d counter\n# EOF\n"))
        let reader = try MetricsReader(text, isOpenMetrics: true)
        #expect(reader.families.map(\.unit) == ["bytes", "seconds", nil, nil])
    }

    @Test("whatever a label or a help text is, it is read back as it was", arguments: [false, true])
    func escaping(isOpenMetrics: Bool) throws {
        let hostile = [
            "\"", "\\", "\n", "\\n", "\"}", "a\"} 1\nb{c=\"d", "\\\"", "é", "日本", "\u{0}", "\t", "{}", "# EOF", "", " ",
            ",",
            "e\u{301}\n", "\n\"",
        ]
        var generator = SeededGenerator(seed: 16)
        let pieces = ["\\", "\"", "\n", "n", "}", ",", "=", "a", "é"]
        let random = (0..<500).map { _ in
            (0..<Int.random(in: 1...8, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? "" }
                .joined()
        }
        for text in hostile + random {
            let family = MetricFamily("a", .gauge, text, [Sample(.integer(1), ["x": text, "y": text])])
            let written = MetricsText.text([family], as: isOpenMetrics ? .openMetrics : .prometheus)
            let reader = try MetricsReader(written, isOpenMetrics: isOpenMetrics)
            let samples = reader.samples("a")
            #expect(samples.count == 1)
            #expect(
                samples.first?.labels.values.allSatisfy { $0.unicodeScalars.elementsEqual(text.unicodeScalars) } == true
            )
            #expect(reader.families.first?.help.unicodeScalars.elementsEqual(text.unicodeScalars) == true)
        }
    }

    @Test func numbersThatAreNoneHaveNames() {
        for (number, text) in [(Double.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"), (1e-7, "1e-07")] {
            let written = MetricsText.text([MetricFamily("a", .gauge, "", [Sample(.number(number))])], as: .prometheus)
            #expect(written.hasSuffix("a \(text)\n"))
        }
    }

    @Test(
        "Accept (RFC 9110 §12.5.1)",
        arguments: [
            (nil, false), ("*/*", false), ("text/plain", false), ("application/openmetrics-text", true),
            ("application/openmetrics-text; version=1.0.0", true),
            ("Application/OpenMetrics-Text;version=\"1.0.0\"", true),
            ("application/openmetrics-text; version=0.0.1", false), ("application/openmetrics-text; q=0", false),
            ("application/openmetrics-text;q=0.5, text/plain;version=0.0.4;q=0.6", false),
            ("application/openmetrics-text;q=0.6, text/plain;version=0.0.4;q=0.6", true),
            ("application/openmetrics-text;q=x", false), (";;,,=;q", false),
            // Prometheus 2.42 and 3.
            (
                "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
                    + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", true
            ),
            (
                "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
                    + "application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;"
                    + "q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1", true
            ),
        ] as [(String?, Bool)]) func accept(field: String?, isOpenMetrics: Bool)
    {
        #expect(MetricsFormat(accept: field) == (isOpenMetrics ? .openMetrics : .prometheus))
    }
}
