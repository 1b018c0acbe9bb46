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

    /// A host without a name.
    private struct Candidate {
        var traffic: Int64 = 0
        /// The standing of the host whose place it took.
        var inherited: Int64 = 0

        /// What decides which candidate is forgotten, never which one gets a name.
        var standing: Int64 { inherited + traffic }
    }

    /// Most hosts with a name.
    package static let mostNamed = 20
    /// Most hosts without a name whose traffic is remembered.
    private static let mostCandidates = 64

    private var hosts: [String: Named] = [:]
    /// What each host with a name has at least, once there are ``mostNamed``.
    private var leastStanding: Int64 = 0
    /// Hosts without a name that may get one.
    private var candidates: [String: Candidate] = [:]
    /// The counts of all hosts without a name.
    package private(set) var others = OriginCounts()

    package init() {}

    /// The counts of the hosts with a name.
    package var named: [String: OriginCounts] { hosts.mapValues(\.counts) }

    /// The counts of all hosts.
    package var all: OriginCounts { hosts.values.reduce(into: others) { $0 += $1.counts } }

    /// Changes the counts of `host`.
    package mutating func count(_ host: String, _ change: (inout OriginCounts) -> Void) {
        // Each hit comes here: one look-up for a host that has a name.
        if let index = hosts.index(forKey: host) { return change(&hosts.values[index].counts) }
        guard hosts.count >= Self.mostNamed else { return change(&hosts[host, default: Named()].counts) }
        let before = others.weight
        change(&others)
        consider(host, others.weight - before)
    }

    /// Adds `traffic` to that of a host without a name, and gives it one if it is busy enough.
    private mutating func consider(_ host: String, _ traffic: Int64) {
        var candidate = candidates[host] ?? newcomer()
        candidate.traffic += traffic
        guard let least = leastNamed(below: candidate.traffic) else {
            candidates[host] = candidate
            return
        }
        others += least.value.counts
        hosts[least.key] = nil
        candidates[host] = nil
        hosts[host] = Named(headStart: candidate.traffic)
    }

    /// The quietest host with a name, if `traffic` is more than twice of what it has.
    private mutating func leastNamed(below traffic: Int64) -> (key: String, value: Named)? {
        // Standings only grow, so that most traffic is not worth a look at them all.
        guard traffic > 2 * leastStanding,
            let least = hosts.min(by: { ($0.value.standing, $1.key) < ($1.value.standing, $0.key) })
        else { return nil }
        leastStanding = least.value.standing
        return traffic > 2 * leastStanding ? least : nil
    }

    /// A candidate without traffic, which takes the place of the quietest one if there is no other.
    ///
    /// It inherits the standing of that one (Metwally et al., Space-Saving). Otherwise each newcomer would be the
    /// quietest at once, and a busy host whose traffic comes in small pieces would begin from nothing with each.
    private mutating func newcomer() -> Candidate {
        guard candidates.count >= Self.mostCandidates,
            let quietest = candidates.min(by: { ($0.value.standing, $1.key) < ($1.value.standing, $0.key) })
        else { return Candidate() }
        candidates[quietest.key] = nil
        return Candidate(inherited: quietest.value.standing)
    }
}
