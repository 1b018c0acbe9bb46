import RepriseTesting
import TestLimits
import Testing

@testable import Reprise

/// Which hosts have a name in the counts, and that nothing is lost, counted twice or taken back.
@Suite(.limit(minutes: 1)) struct BusiestHostsTests {
    private static func bytes(_ hosts: BusiestHosts) -> [String: Int64] { hosts.named.mapValues(\.bytes) }

    @Test func twentyHostsHaveNamesAtOnce() {
        var hosts = BusiestHosts()
        for number in 1...20 { hosts.count("h\(number)") { $0.noteBytes(Int64(number)) } }
        #expect(hosts.named.count == 20)
        #expect(hosts.others == OriginCounts())
        hosts.count("late") { $0.noteBytes(1) }
        #expect(hosts.named["late"] == nil)
        #expect(hosts.others.bytes == 1)
    }

    @Test func aBusyHostTakesTheNameOfTheQuietest() {
        var hosts = BusiestHosts()
        for number in 1...20 { hosts.count("h\(number)") { $0.noteBytes(Int64(number * 100)) } }
        hosts.count("late") { $0.noteBytes(200) }
        #expect(hosts.named["late"] == nil, "twice as much as the quietest is not more than that")
        hosts.count("late") { $0.noteBytes(1) }
        #expect(hosts.named["late"]?.bytes == 0)
        #expect(hosts.named["h1"] == nil)
        #expect(hosts.others.bytes == 301, "its own from before, and all of the host that it replaced")
        hosts.count("late") { $0.noteBytes(50) }
        #expect(hosts.named["late"]?.bytes == 50)
        #expect(hosts.others.bytes == 301)
    }

    @Test("a busy host gets a name although its traffic comes in small pieces, among hosts that come once")
    func smallPieces() {
        var hosts = BusiestHosts()
        for number in 1...20 { hosts.count("h\(number)") { $0.noteBytes(10_000) } }
        for number in 0..<100 { hosts.count("once\(number)") { $0.noteBytes(500) } }
        for step in 1...2001 {
            #expect(hosts.named["busy"] == nil)
            hosts.count("busy") { $0.noteBytes(10) }
            if step % 10 == 0 { hosts.count("later\(step)") { $0.noteBytes(100) } }
        }
        #expect(hosts.named["busy"]?.bytes == 0, "more than twice the 10,000 bytes of the quietest")
        #expect(hosts.named.keys.filter { $0.hasPrefix("h") }.count == 19)
    }

    @Test("hosts that come once inherit no traffic, so none gets a name") func equalHosts() {
        var hosts = BusiestHosts()
        for number in 1...20 { hosts.count("h\(number)") { $0.noteBytes(1000) } }
        for number in 0..<100_000 { hosts.count("once\(number)") { $0.noteBytes(500) } }
        #expect(hosts.named.count == 20)
        #expect(hosts.named.keys.allSatisfy { $0.hasPrefix("h") })
        #expect(hosts.others.bytes == 50_000_000)
    }

    @Test("a thousand hosts, or hosts that change all the time: few names, exact sums, nothing falls")
    func manyHosts() {
        var generator = SeededGenerator(seed: 20)
        var hosts = BusiestHosts()
        var (sum, requests): (Int64, Int64) = (0, 0)
        var before: [String: Int64] = [:]
        var (others, changes): (Int64, Int) = (0, 0)
        for step in 0..<50_000 {
            // Some hosts are much busier than others, and which ones they are changes.
            let number =
                Int.random(in: 0..<1000, using: &generator) * Int.random(in: 0..<2, using: &generator) + step / 5000
            let count = Int64.random(in: 0..<10_000, using: &generator)
            hosts.count("h\(number)") { counts in
                counts.noteBytes(count)
                counts.noteRequest(.successful)
            }
            (sum, requests) = (sum + count, requests + 1)
            #expect(hosts.named.count <= BusiestHosts.mostNamed)
            let now = Self.bytes(hosts)
            for (host, bytes) in now { #expect(bytes >= before[host] ?? 0) }
            changes += now.keys.filter { before[$0] == nil }.count
            #expect(hosts.others.bytes >= others)
            (before, others) = (now, hosts.others.bytes)
        }
        #expect(hosts.all.bytes == sum)
        #expect(hosts.all.requests[.successful] == requests)
        #expect(changes < 400, "a name costs twice the traffic of the quietest host that has one")
    }

    @Test func bytesThatAreTakenBackAreNotCountedTwice() {
        var counts = OriginCounts()
        counts.noteBytes(100)
        counts.noteBytes(-40)
        #expect(counts.bytes == 100)
        counts.noteBytes(30)
        #expect(counts.bytes == 100)
        counts.noteBytes(20)
        #expect(counts.bytes == 110)
    }

    @Test(arguments: [(200, "2xx"), (206, "2xx"), (304, "3xx"), (404, "4xx"), (416, "4xx"), (500, "5xx"), (999, "5xx")])
    func outcomesAreClassesOfTheStatus(status: Int, name: String) {
        #expect(OriginCounts.Outcome(status: status).rawValue == name)
    }
}
