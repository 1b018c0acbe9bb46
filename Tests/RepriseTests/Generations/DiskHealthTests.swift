import Testing

@testable import Reprise

/// One fault costs the bytes that it concerns, a second one closes the store.
@Suite struct DiskHealthTests {
    @Test func aSecondReadFaultWithinThePauseCounts() {
        var health = DiskHealth()
        let start = Duration.seconds(1000)
        let first = health.readFailed(at: start)
        let soon = health.readFailed(at: start + Breaker.pause - .seconds(1))
        let later = health.readFailed(at: start + Breaker.pause + Breaker.pause - .seconds(1))
        #expect(!first)
        #expect(soon)
        #expect(!later, "a whole pause after the last one")
    }

    @Test func aChunkThatFailsTwiceCounts() {
        var health = DiskHealth()
        let chunks: [Int64] = [0, 65_536, 65_536, 0]
        let answers = chunks.map { health.chunkFailed(at: $0) }
        #expect(answers == [false, false, true, false])
    }

    @Test func aClosedStoreIsTriedAgainAfterItsPause() {
        var health = DiskHealth()
        #expect(!health.mayTryAgain(at: .seconds(1000)), "it was never closed for a while")
        health.storeClosed(for: .seconds(10), at: .seconds(1000))
        #expect(!health.mayTryAgain(at: .seconds(1009)))
        #expect(health.mayTryAgain(at: .seconds(1010)))
        health.storeClosed(for: nil, at: .seconds(1010))
        #expect(!health.mayTryAgain(at: .seconds(100_000)), "closed for good")
    }
}
