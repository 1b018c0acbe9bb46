import Foundation
import Primitives
import RepriseTesting
import TestLimits
import TestSupport
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

    @Test("when a host lets a validation time out, further stored files are served stale without waiting")
    func silence() async throws {
        let clock = ShiftableClock()
        let bytes = [UInt8](repeating: 7, count: 1000)
        let isSilent = Mutex(false)
        let origin = ScriptedOrigin { request, _ in
            if isSilent.withLock({ $0 }) { throw RepriseError(.originTimedOut, "Nothing came.") }
            return .media(request, bytes, [.cacheControl: "max-age=0"])
        }
        try await origin.run {
            $0.clock = CacheClock(clock) { clock.wallClock }
        } _: { cache in
            let files = try "abcdef".map { try cache.resource(for: "https://origin.test/\($0).mp4") }
            for file in files { _ = try await file.read().collect() }
            // Until then they are played.
            clock.shift(by: .seconds(86_400))
            isSilent.withLock { $0 = true }
            func expect(_ count: Int, after file: MediaResource) async throws {
                #expect(try await file.read().collect() == bytes)
                #expect(origin.requests.count == files.count + count)
            }
            try await expect(1, after: files[0])
            try await expect(1, after: files[1])
            clock.shift(by: .seconds(60))
            try await expect(2, after: files[2])
            try await expect(2, after: files[3])
            isSilent.withLock { $0 = false }
            clock.shift(by: .seconds(60))
            try await expect(3, after: files[4])
            try await expect(4, after: files[5])
        }
    }
}
