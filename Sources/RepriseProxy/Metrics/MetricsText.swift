import Reprise

/// Metrics as text: the format of Prometheus, 0.0.4, or OpenMetrics 1.0.
///
/// Series have the same names and labels in both.
struct MetricsText {
    private let format: MetricsFormat
    private var text = ""

    private init(_ format: MetricsFormat) { self.format = format }

    /// The whole text.
    static func text(_ families: [MetricFamily], as format: MetricsFormat) -> String {
        var writer = MetricsText(format)
        for family in families { writer.write(family) }
        if format == .openMetrics { writer.text += "# EOF\n" }
        return writer.text
    }

    private mutating func write(_ family: MetricFamily) {
        // OpenMetrics names the family without the suffix of its samples.
        let name = format == .openMetrics ? family.base : family.name
        text += "# HELP \(name) \(escapedHelp(family.help))\n# TYPE \(name) \(family.kind.rawValue)\n"
        if format == .openMetrics, let unit = family.unit { text += "# UNIT \(name) \(unit)\n" }
        for sample in family.samples {
            switch sample.value {
            case .integer(let value): write(family.name, sample.labels, "\(value)")
            case .number(let value): write(family.name, sample.labels, Self.number(value))
            case .histogram(let histogram): write(histogram, of: family.name, sample.labels)
            }
        }
    }

    private mutating func write(_ histogram: LatencyHistogram, of name: String, _ labels: [MetricFamily.Label]) {
        var count: Int64 = 0
        for (bound, more) in zip(LatencyHistogram.bounds + [.infinity], histogram.counts) {
            count += more
            let limit = MetricFamily.Label(name: "le", value: Self.number(bound))
            write(name + "_bucket", labels + [limit], "\(count)")
        }
        write(name + "_sum", labels, Self.number(histogram.sum))
        write(name + "_count", labels, "\(count)")
    }

    private mutating func write(_ name: String, _ labels: [MetricFamily.Label], _ value: String) {
        text += name
        if !labels.isEmpty {
            let pairs = labels.map { "\($0.name)=\"\(Self.escaped($0.value, quotes: true))\"" }
            text += "{" + pairs.joined(separator: ",") + "}"
        }
        text += " \(value)\n"
    }

    /// A number as both formats take it.
    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return "\(value)"
    }

    /// In the format of Prometheus, quotation marks of a help text stand for themselves.
    private func escapedHelp(_ text: String) -> String { Self.escaped(text, quotes: format == .openMetrics) }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        // By scalars: a line feed after a carriage return is the same character to Swift.
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
