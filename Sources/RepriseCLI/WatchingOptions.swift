import ArgumentParser

/// Options of a server about what those see who watch it.
struct WatchingOptions: ParsableArguments {
    @Flag(
        inversion: .prefixedNo,
        help: "Name the hosts of origins in /metrics: the 20 busiest; the others are counted together.")
    var metricsHosts = true
}
