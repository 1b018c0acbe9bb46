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

    @Flag(
        inversion: .prefixedNo,
        help: Setting.page.help(
            "Give browsers that open the address of the server its page, not a short text as other clients."))
    var page: Bool?

    @Option(
        help: Setting.peers.help(
            "Server of Reprise whose health and sums the page shows, and the sums of all.", valueName: "address"))
    var peers: [String] = []

    @Option(
        help: Setting.trustProxy.help(
            "Address or network of proxies before this server, whose X-Forwarded-For counts in the access log.",
            valueName: "network"))
    var trustProxy: [String] = []

    func validate() throws {
        try Setting.accessLog.check(option: accessLog)
        try Setting.peers.check(option: peers)
        try Setting.trustProxy.check(option: trustProxy)
    }
}

extension AccessLogFormat: ExpressibleByArgument {}
