import ArgumentParser
import Foundation
import Logging
import RepriseProxy

/// Options of a server about what those see who watch it.
struct WatchingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "File that gets a line for each answer, opened again on SIGHUP; - for standard output; REPRISE_ACCESS_LOG.",
            valueName: "file"))
    var accessLog: String?

    @Option(
        help: ArgumentHelp(
            "Form of these lines, json or combined; REPRISE_ACCESS_LOG_FORMAT. (default: json)", valueName: "form"))
    var accessLogFormat: AccessLogFormat?

    @Flag(
        inversion: .prefixedNo,
        help: "Name the hosts of origins in /metrics: the 20 busiest; the others are counted together.")
    var metricsHosts = true

    func validate() throws {
        if accessLog?.isEmpty == true { throw ValidationError("--access-log is empty; name a file, or - .") }
        if accessLogFormat != nil, path == nil {
            throw ValidationError("--access-log-format is of no use without --access-log.")
        }
    }

    /// The file of the access log; `nil` for none.
    private var path: String? {
        (accessLog ?? CacheOptions.environment["REPRISE_ACCESS_LOG"]).map { ($0 as NSString).expandingTildeInPath }
    }

    /// Whether lines of the access log go to standard output.
    var isLogOnOutput: Bool { path == "-" }

    /// Opens the access log; `nil` if none was asked for.
    func openLog(logger: Logger) throws -> AccessLog? {
        guard let path else { return nil }
        return try AccessLog(path: path, format: try form(), logger: logger)
    }

    private func form() throws -> AccessLogFormat {
        if let accessLogFormat { return accessLogFormat }
        guard let text = CacheOptions.environment["REPRISE_ACCESS_LOG_FORMAT"] else { return .json }
        guard let form = AccessLogFormat(rawValue: text) else {
            throw ValidationError("REPRISE_ACCESS_LOG_FORMAT is \"\(text)\"; it must be json or combined.")
        }
        return form
    }
}

extension AccessLogFormat: ExpressibleByArgument {}
