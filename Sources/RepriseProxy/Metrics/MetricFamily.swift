import Reprise

/// A metric as a monitor sees it: a name, what it means, and its values.
struct MetricFamily: Sendable, Equatable {
    /// What its values do.
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
