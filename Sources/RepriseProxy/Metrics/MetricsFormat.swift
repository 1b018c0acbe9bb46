/// A text format for metrics.
enum MetricsFormat: Equatable {
    /// The format of Prometheus, version 0.0.4.
    case prometheus
    /// OpenMetrics 1.0.
    case openMetrics

    /// The format for a request with that `Accept` (RFC 9110 §12.5.1): OpenMetrics where it is asked for by name and
    /// nothing is liked better.
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
