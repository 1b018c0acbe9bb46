import ArgumentParser
import RepriseProxy

/// Options of a server about what those see who watch it.
struct WatchingOptions: ParsableArguments {
    @Option(
        help: Setting.accessLog.help(
            "File that gets a line for each answer, opened again on SIGHUP; - for standard output.", valueName: "file"))
    var accessLog: String?

    @Option(help: Setting.accessLogFormat.help("Form of these lines, json or combined.", valueName: "form"))
    var accessLogFormat: AccessLogFormat?

    @Flag(
        inversion: .prefixedNo,
        help: Setting.metricsHosts.help(
            "Name the hosts of origins in /metrics: the 20 busiest; the others are counted together."))
    var metricsHosts: Bool?
}

extension AccessLogFormat: ExpressibleByArgument {}
