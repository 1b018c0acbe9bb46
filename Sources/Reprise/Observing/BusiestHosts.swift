/// Counts by host, of which only the busiest have a name; the others are counted together.
///
/// Clients choose the hosts, so neither the names nor the memory may grow with them. No count ever falls, and the sum
/// over all is exact. A host whose name is given to a busier one is counted with the others from then on, with all that
/// it had. That takes twice the traffic of the least busy host with a name, so that names change ever more rarely.
package struct BusiestHosts: Sendable {
    private struct Named {
        var counts = OriginCounts()
        /// What the host had when it got the name, which stays counted with the others.
        var headStart: Int64 = 0

        var standing: Int64 { headStart + counts.weight }
    }

    /// Most hosts with a name.
    package static let mostNamed = 20
    /// Most hosts without a name whose traffic is remembered.
    private static let mostCandidates = 64

    private var hosts: [String: Named] = [:]
    /// Hosts without a name, and their traffic.
    private var candidates: [String: Int64] = [:]
    /// The counts of all hosts without a name.
    package private(set) var others = OriginCounts()

    package init() {}

    /// The counts of the hosts with a name.
    package var named: [String: OriginCounts] { hosts.mapValues(\.counts) }

    /// The counts of all hosts.
    package var all: OriginCounts { hosts.values.reduce(into: others) { $0 += $1.counts } }

    /// Changes the counts of `host`.
    package mutating func count(_ host: String, _ change: (inout OriginCounts) -> Void) {
        if hosts[host] == nil, hosts.count < Self.mostNamed { hosts[host] = Named() }
        guard hosts[host] == nil else { return change(&hosts[host, default: Named()].counts) }
        let before = others.weight
        change(&others)
        consider(host, others.weight - before)
    }

    /// Adds `traffic` to that of a host without a name, and gives it one if it is busy enough.
    private mutating func consider(_ host: String, _ traffic: Int64) {
        let standing = candidates[host, default: 0] + traffic
        guard let least = hosts.min(by: { ($0.value.standing, $1.key) < ($1.value.standing, $0.key) }) else { return }
        guard standing > 2 * least.value.standing else {
            candidates[host] = standing
            if candidates.count > Self.mostCandidates,
                let quietest = candidates.min(by: { ($0.value, $1.key) < ($1.value, $0.key) })
            {
                candidates[quietest.key] = nil
            }
            return
        }
        others += least.value.counts
        hosts[least.key] = nil
        candidates[host] = nil
        hosts[host] = Named(headStart: standing)
    }
}
