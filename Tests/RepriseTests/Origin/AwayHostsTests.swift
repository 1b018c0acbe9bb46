import Foundation
import RepriseTesting
import TestLimits
import Testing

@testable import Reprise

@Suite(.limit(minutes: 1)) struct AwayHostsTests {
    private let clock = ManualClock()
    private let hosts: AwayHosts

    init() { hosts = AwayHosts(clock: CacheClock(clock) { Date(timeIntervalSince1970: 0) }) }

    @Test func aHostIsAwayUntilItAnswers() {
        hosts.note(RepriseError(.originUnreachable, "refused"), from: "a:1")
        #expect(hosts.contains("a:1") && !hosts.contains("a:2"))
        hosts.noteAnswer(from: "a:2")
        #expect(hosts.contains("a:1"))
        hosts.noteAnswer(from: "a:1")
        #expect(!hosts.contains("a:1"))
    }

    @Test func aFailureIsForgotten() {
        hosts.note(RepriseError(.originNotFound, "no such host"), from: "a")
        clock.advance(by: AwayHosts.memory - .nanoseconds(1))
        #expect(hosts.contains("a"))
        clock.advance(by: .nanoseconds(1))
        #expect(!hosts.contains("a"))
    }

    @Test(arguments: [RepriseError.Code.originTimedOut, .originMisbehaved, .originBodyTruncated, .closed])
    func otherErrorsAreNoProof(code: RepriseError.Code) {
        hosts.note(RepriseError(code, "a failure"), from: "a")
        hosts.note(CancellationError(), from: "a")
        #expect(!hosts.contains("a"))
    }

    @Test func whatTheCallerTakesForAFailureIsOne() {
        hosts.noteFailure(of: "a")
        #expect(hosts.contains("a"))
        clock.advance(by: AwayHosts.memory)
        #expect(!hosts.contains("a"))
    }

    @Test func oneTriesAHostThatIsAway() {
        func tries() -> [Bool] { (0..<2).map { _ in hosts.claimsTry(of: "a") } }
        #expect(tries() == [true, true])
        hosts.noteFailure(of: "a")
        #expect(tries() == [false, false])
        for _ in 0..<2 {
            clock.advance(by: AwayHosts.memory)
            #expect(tries() == [true, false])
        }
        hosts.noteAnswer(from: "a")
        #expect(tries() == [true, true])
    }

    @Test func manyHostsTakeNoMoreRoomUntilTheyAreForgotten() {
        let failure = RepriseError(.networkUnavailable, "no network")
        for number in 0..<1000 { hosts.note(failure, from: "\(number)") }
        let remembered = (0..<1000).count { hosts.contains("\($0)") }
        #expect(remembered == 256)
        clock.advance(by: AwayHosts.memory)
        hosts.note(failure, from: "new")
        #expect(hosts.contains("new"))
    }
}
