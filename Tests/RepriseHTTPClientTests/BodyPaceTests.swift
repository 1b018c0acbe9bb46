import TestLimits
import Testing

@testable import RepriseHTTPClient

@Suite("The pace of a body's consumer", .limit(minutes: 1))
struct BodyPaceTests {
    /// The speeds after looks, one for each letter: `h` halted, `r` reading, `p` and `q` the same after a pull, `s`
    /// silent.
    private func speeds(_ looks: String) -> [BodyPace.Speed] {
        var pace = BodyPace()
        return looks.map { letter in
            if "pq".contains(letter) { pace.pulled() }
            return pace.look(isHalted: "hp".contains(letter), hasReceived: letter != "s")
        }
    }

    @Test func aConsumerThatTakesWhatComesHasFullSpeed() {
        #expect(speeds("qqqqqqqqpqqqpq").allSatisfy { $0 == .full })
    }

    @Test("A body whose origin sends nothing does not move, until it sends again")
    func noBytes() {
        #expect(speeds("qsssr") == [.full, .full, .reduced, .reduced, .full])
        #expect(speeds("qsqsqs").allSatisfy { $0 == .full })
        #expect(speeds("sssssss").last == .reduced, "the consumer has not stopped")
    }

    @Test func aConsumerThatTheConnectionMostlyWaitsForHasReducedSpeed() {
        #expect(speeds("ppppp") == [.full, .full, .full, .reduced, .reduced])
        #expect(speeds("ppqpp").last == .reduced)
        #expect(speeds("pqpqp").last == .full)
    }

    @Test func theSpeedIsFullAgainOnceTheConnectionReadsMoreThanItWaits() {
        #expect(speeds("pppppqq").last == .reduced, "two looks are an accident")
        #expect(speeds("pppppqqq").last == .full)
    }

    @Test func aConsumerThatPullsNothingForAllLooksHasStopped() {
        #expect(speeds("phhhhh").suffix(3) == [.reduced, .reduced, .stopped])
        #expect(speeds("phhhhhp").last == .reduced)
        #expect(speeds("phhhhhqqq").last == .full)
    }
}
