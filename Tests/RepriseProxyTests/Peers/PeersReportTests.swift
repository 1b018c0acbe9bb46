import TestLimits
import Testing

@testable import RepriseProxy

/// What is said of several servers, and what they may say.
@Suite(.limit(minutes: 1)) struct PeersReportTests {
    private func json(name: String = "n1", instance: String = "a", bytes: String = "7") -> [UInt8] {
        let names = [
            "servedBytes", "storeBytes", "joinedBytes", "originBytes", "fetchedBytes", "savedBytes", "originRequests",
            "reads",
        ]
        let counts = names.map { "\"\($0)\":\(bytes)" }.joined(separator: ",")
        return Array(
            """
            {"name":"\(name)","instance":"\(instance)","sinceStart":{\(counts)},"usedBytes":5,"limitBytes":9}
            """.utf8)
    }

    private func answer(_ instance: String, bytes: String = "7") throws -> Peer.Answer {
        let sums: ServerSums = try #require(ServerSums(json: json(instance: instance, bytes: bytes)))
        return Peer.Answer(.ready, sums)
    }

    @Test("sums are of those that told theirs, each once however often it is named") func sums() throws {
        let others = [
            ("http://a", try answer("own")), ("http://b", try answer("b", bytes: "100")),
            ("http://b2", try answer("b", bytes: "100")), ("http://c", Peer.Answer(.unreachable)),
            ("http://d", Peer.Answer(.unreachable)),
        ]
        let report = PeersReport(own: try answer("own"), others: others)
        #expect(report.servers.map(\.address) == [nil, "http://b", "http://c", "http://d"])
        #expect(report.counted == 2)
        #expect(report.sinceStart.servedBytes == 107 && report.sinceStart.reads == 107)
        #expect(report.usedBytes == 10 && report.limitBytes == 18)
    }

    @Test(
        "what no server would say is not taken",
        arguments: [
            "-9007199254740993", "9007199254740993", "-9223372036854775808", "1e400", "\"7\"", "null", "{}", "7.5",
        ])
    func numbers(text: String) { #expect(ServerSums(json: json(bytes: text)) == nil) }

    @Test func namesThatAreTooLong() {
        #expect(ServerSums(json: json()) != nil)
        #expect(ServerSums(json: json(bytes: "9007199254740992")) != nil)
        #expect(ServerSums(json: json(bytes: "-7")) != nil, "what was fetched ahead is not saved")
        #expect(ServerSums(json: json(name: String(repeating: "n", count: 65))) == nil)
        #expect(ServerSums(json: json(instance: "")) == nil)
        #expect(ServerSums(json: Array("[[[[".utf8)) == nil)
    }

    @Test(arguments: [
        (200, "ready\n", PeerState.ready), (200, "degraded\n", .degraded), (503, "draining\n", .draining),
        (503, "closed\n", .closed), (200, "draining\n", .foreign), (503, "ready\n", .foreign), (200, "ok\n", .foreign),
        (302, "ready\n", .foreign), (200, "", .foreign),
    ])
    func states(status: Int, text: String, state: PeerState) {
        #expect(PeerState(status: status, text: text) == state)
    }
}
