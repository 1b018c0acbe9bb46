import TestLimits
import Testing

@testable import RepriseProxy

/// How long a connection may wait, tested without sockets and without waiting.
@Suite(.limit(minutes: 1)) struct ConnectionDeadlineTests {
    private typealias Sight = ConnectionDeadline.Sight

    private static let limits = ConnectionDeadline.Limits(
        firstRequest: .seconds(15), request: .seconds(75), client: .seconds(600), farewell: .seconds(5))

    /// The second at which a connection that always looks like `sight` ends; `nil` if it does not within ten hours.
    private static func end(_ sight: (Int) -> Sight) -> Int? {
        var deadline = ConnectionDeadline(limits)
        return (0...36_000).first { second in deadline.isOver(sight(second), at: .seconds(second)) }
    }

    @Test(
        arguments: [
            (.firstRequest, 15), (.request, 75), (.client, 600), (.farewell, 5), (.answer, nil),
        ] as [(ConnectionDeadline.Waiting, Int?)])
    func aConnectionOnWhichNothingHappensIsOverAfterItsTime(waiting: ConnectionDeadline.Waiting, expected: Int?) {
        #expect(Self.end { _ in Sight(waiting: waiting, events: 0) } == expected)
    }

    @Test func aBodyOfTenHoursOfWhichAByteLeavesEveryNineMinutesIsNeverCut() {
        #expect(Self.end { Sight(waiting: .client, events: 1, pending: 100_000 - $0 / 540) } == nil)
    }

    @Test func aBodyOfTenHoursWhosePiecesAreHandedOverIsNeverCut() {
        // The pending bytes look the same each time: one piece was sent, and the next one took its place.
        #expect(Self.end { Sight(waiting: .client, events: UInt64($0 / 599), pending: 4096) } == nil)
    }

    @Test func theIdleTimeBeginsWhenTheLastByteHasLeft() {
        let sent = 9 * 3600
        let end = Self.end { second in
            second < sent
                ? Sight(waiting: .client, events: 1, pending: sent - second) : Sight(waiting: .request, events: 2)
        }
        #expect(end == sent + 75)
    }

    @Test func aPauseOfANightIsLetGoTenMinutesAfterTheLastByteWasTaken() {
        let paused = 3600
        #expect(Self.end { Sight(waiting: .client, events: 1, pending: max(0, paused - $0)) } == paused + 600)
    }

    @Test func aRequestThatComesByteByByteHasOneDeadline() {
        // Bytes of a head are not an event; only a complete request is.
        #expect(Self.end { _ in Sight(waiting: .firstRequest, events: 0) } == 15)
    }

    @Test func eachWaitHasItsWholeTime() {
        let end = Self.end { second in
            second < 70 ? Sight(waiting: .request, events: 1) : Sight(waiting: .request, events: 2)
        }
        #expect(end == 70 + 75)
    }
}
