import RepriseTesting
import TestLimits
import Testing

@testable import Reprise

/// The budget of bytes that downloads share, second by second.
@Suite(.limit(minutes: 1)) struct TransferPaceTests {
    private static let piece: Int64 = 65_536

    @Test("the first pull begins at once, and each further one when the bytes before it are earned")
    func pullsAreSpread() {
        var pace = TransferPace(rate: Self.piece, at: .zero)
        let claims = (0..<3).map { _ in pace.claim(atMost: nil, at: .zero) }
        #expect(claims.map { pace.delay(of: $0, at: .zero) } == [.zero, .seconds(1), .seconds(2)])
        #expect(claims.map { pace.delay(of: $0, at: .seconds(1)) } == [.zero, .zero, .seconds(1)])
    }

    @Test func whatAPullReallyBroughtMovesLaterOnes() {
        var pace = TransferPace(rate: Self.piece, at: .zero)
        let first = pace.claim(atMost: nil, at: .zero)
        pace.settle(first, bytes: 3 * Self.piece, at: .zero)
        let second = pace.claim(atMost: 1000, at: .zero)
        #expect(pace.delay(of: second, at: .zero) == .seconds(3))
        pace.settle(second, bytes: 0, at: .zero)
        let third = pace.claim(atMost: nil, at: .zero)
        #expect(pace.delay(of: third, at: .zero) == .seconds(3), "what was withdrawn takes no place")
    }

    @Test("every claim is admitted in time without further ones, whatever the pulls before it bring")
    func allAreAdmitted() {
        var random = SeededGenerator(seed: 21)
        for round in 0..<500 {
            let rate = Int64.random(in: 1000...5_000_000, using: &random)
            var pace = TransferPace(rate: rate, at: .zero)
            var claims = (0..<Int.random(in: 1...20, using: &random)).map { _ in pace.claim(atMost: nil, at: .zero) }
            var now = Duration.zero
            while !claims.isEmpty {
                let delays = claims.map { pace.delay(of: $0, at: now) }
                let next = delays.indices.min { delays[$0] < delays[$1] } ?? 0
                now += delays[next]
                guard pace.delay(of: claims[next], at: now) < .milliseconds(1) else {
                    Issue.record("a claim of round \(round) waits for ever")
                    break
                }
                let count = Bool.random(using: &random) ? 10 : Int64.random(in: 0...(1 << 17), using: &random)
                pace.settle(claims.remove(at: next), bytes: count, at: now)
            }
        }
    }

    @Test func aPauseEarnsNoBurst() {
        var pace = TransferPace(rate: Self.piece, at: .zero)
        pace.settle(pace.claim(atMost: nil, at: .zero), bytes: Self.piece, at: .zero)
        let later = Duration.seconds(3600)
        let claims = (0..<2).map { _ in pace.claim(atMost: nil, at: later) }
        #expect(claims.map { pace.delay(of: $0, at: later) } == [.zero, .seconds(1)])
    }

    @Test func anotherRateHoldsForTheRest() {
        var pace = TransferPace(rate: Self.piece, at: .zero)
        let claims = (0..<3).map { _ in pace.claim(atMost: nil, at: .zero) }
        pace.change(to: 2 * Self.piece, at: .seconds(1))
        #expect(pace.delay(of: claims[2], at: .seconds(1)) == .seconds(0.5))
        pace.change(to: nil, at: .seconds(1))
        #expect(pace.delay(of: claims[2], at: .seconds(1)) == .zero)
        for claim in claims { pace.settle(claim, bytes: 1 << 40, at: .seconds(1)) }
        pace.change(to: Self.piece, at: .seconds(2))
        let next = pace.claim(atMost: nil, at: .seconds(2))
        #expect(pace.delay(of: next, at: .seconds(2)) == .zero, "what was unlimited is no debt")
    }

    @Test("a rate below one byte is one byte", arguments: [0, -5, .min] as [Int64])
    func leastRate(rate: Int64) {
        var pace = TransferPace(rate: rate, at: .zero)
        let claims = (0..<2).map { _ in pace.claim(atMost: 10, at: .zero) }
        #expect(pace.delay(of: claims[1], at: .zero) == .seconds(10))
    }

    @Test("whatever the pieces and the pullers, no second brings more than the rate and a piece of each")
    func model() {
        var random = SeededGenerator(seed: 20)
        for _ in 0..<50 {
            let rate = Int64.random(in: 1000...5_000_000, using: &random)
            let pullers = Int.random(in: 1...6, using: &random)
            let largest = Int64.random(in: 1...(1 << 20), using: &random)
            var pace = TransferPace(rate: rate, at: .zero)
            // Of each puller, its claim and when it may pull.
            var claims = (0..<pullers).map { _ in pace.claim(atMost: nil, at: .zero) }
            var (now, total) = (Duration.zero, 0 as Int64)
            for _ in 0..<500 {
                let delays = claims.map { pace.delay(of: $0, at: now) }
                let next = delays.indices.min { delays[$0] < delays[$1] } ?? 0
                now += delays[next]
                let count = Int64.random(in: 1...largest, using: &random)
                total += count
                pace.settle(claims[next], bytes: count, at: now)
                claims[next] = pace.claim(atMost: nil, at: now)
                let allowed = Double(rate) * (now / .seconds(1)) + Double((largest + Self.piece) * Int64(pullers))
                #expect(Double(total) <= allowed + 1000)
            }
            // And it is used: bytes are pulled as soon as they are earned.
            let least = Double(rate) * (now / .seconds(1)) - Double((largest + Self.piece) * Int64(pullers))
            #expect(Double(total) >= least - 1000)
        }
    }
}
