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

/// A text format for metrics.
enum MetricsFormat: Equatable {
    /// The format of Prometheus, version 0.0.4.
    case prometheus
    /// OpenMetrics 1.0.
    case openMetrics

    /// The format for a request with that `Accept` (RFC 9110 §12.5.1): OpenMetrics if it is requested by name and
    /// nothing is preferred to it.
    init(accept: String?) {
        var (open, plain) = (0.0, 0.0)
        for item in accept?.split(separator: ",") ?? [] {
            let parts = item.split(separator: ";").map { part in
                part.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }.lowercased()
            }
            let weight = parts.first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            let version = parts.first { $0.hasPrefix("version=") }?.dropFirst(8).filter { $0 != "\"" }
            switch parts.first {
            case "application/openmetrics-text" where version.map({ $0 == "1.0.0" }) ?? true: open = max(open, weight)
            case "text/plain" where version.map({ $0 == "0.0.4" }) ?? true: plain = max(plain, weight)
            default: break
            }
        }
        self = open > 0 && open >= plain ? .openMetrics : .prometheus
    }

    /// The media type of the answer.
    var mediaType: StaticString {
        switch self {
        case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }
}

/// A metric as a monitor sees it: a name, what it means, and its values.
struct MetricFamily: Sendable, Equatable {
    enum Kind: String, Sendable {
        /// They never fall.
        case counter
        /// They rise and fall.
        case gauge
        /// They count measurements by size.
        case histogram
    }

    /// A value under its labels.
    struct Sample: Sendable, Equatable {
        /// Names and values, in the order in which they are written.
        let labels: [Label]
        let value: Value

        init(_ value: Value, _ labels: [Label]) { (self.labels, self.value) = (labels, value) }

        init(_ value: Value, _ labels: KeyValuePairs<String, String> = [:]) {
            self.init(value, labels.map { Label(name: $0.key, value: $0.value) })
        }
    }

    struct Label: Sendable, Equatable {
        let name: String
        let value: String
    }

    enum Value: Sendable, Equatable {
        case integer(Int64)
        case number(Double)
        case histogram(LatencyHistogram)
    }

    /// The name of its samples; that of a counter ends with `_total`.
    let name: String
    let kind: Kind
    /// One line for people.
    let help: String
    let samples: [Sample]

    init(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
        (self.name, self.kind, self.help, self.samples) = (name, kind, help, samples)
    }

    /// A metric with one integer and no label.
    init(_ name: String, _ kind: Kind, _ help: String, _ value: Int64) {
        self.init(name, kind, help, [Sample(.integer(value))])
    }

    /// The name without the suffix of counters.
    var base: String { kind == .counter && name.hasSuffix("_total") ? String(name.dropLast(6)) : name }

    /// The unit of its values, which its name ends with; `nil` for plain numbers.
    var unit: String? { ["bytes", "seconds"].first { base.hasSuffix("_" + $0) } }
}
