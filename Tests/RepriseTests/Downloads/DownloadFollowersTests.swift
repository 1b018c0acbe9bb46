import TestLimits
import Testing

@testable import Reprise

/// Which of those who wait for a download has it paused when they are ended early.
@Suite(.limit(minutes: 1)) struct DownloadFollowersTests {
    @Test func theLastOnePausesWhatTheFirstBegan() {
        var followers = DownloadFollowers()
        followers.join(isUnderWay: false, pausing: true)
        followers.join(isUnderWay: true, pausing: true)
        let first = followers.leave(isCanceled: true)
        #expect(!first.pauses && !followers.isEmpty)
        let last = followers.leave(isCanceled: true)
        #expect(last.pauses && last.released == nil && followers.isEmpty)
    }

    @Test(
        "what was no download before is none again after the last fetch, unless a command downloads it, too",
        arguments: [
            ([.cached], .cached), ([.pinned(until: nil)], .pinned(until: nil)), ([.download], nil),
            ([.cached, .download], .cached), ([.cached, nil], nil), ([nil, .download], nil),
            ([.cached, nil, .download], nil),
        ] as [([Retention?], Retention?)])
    func releases(joins: [Retention?], released: Retention?) {
        var followers = DownloadFollowers()
        for before in joins { followers.join(isUnderWay: false, pausing: false, releasing: before) }
        var ends: [Retention?] = []
        for _ in joins { ends.append(followers.leave(isCanceled: true).released) }
        #expect(ends.dropLast().allSatisfy { $0 == nil } && ends.last == released)
    }

    @Test("what a later command wants to keep also when it leaves stays when the first one fails") func goingOn() {
        func goesOn(_ joins: [(pausing: Bool, releasing: Retention?)]) -> Bool {
            var followers = DownloadFollowers()
            for join in joins { followers.join(isUnderWay: false, pausing: join.pausing, releasing: join.releasing) }
            return followers.goesOn
        }
        #expect(!goesOn([(false, nil)]) && !goesOn([(true, nil), (true, nil)]))
        #expect(!goesOn([(false, .cached), (false, .cached)]))
        #expect(goesOn([(true, nil), (false, nil)]) && goesOn([(false, .cached), (false, nil)]))
    }

    @Test("what is pinned in the meantime stays") func keeps() {
        var followers = DownloadFollowers()
        followers.join(isUnderWay: false, pausing: false, releasing: .cached)
        followers.keep()
        #expect(followers.goesOn, "also when the command fails")
        #expect(followers.leave(isCanceled: false).released == nil)
    }

    @Test("nothing is paused that went on before, that one wants to go on, or whose last follower saw its end")
    func goesOn() {
        func pauses(_ joins: [(isUnderWay: Bool, pausing: Bool)], lastIsCanceled: Bool = true) -> Bool {
            var followers = DownloadFollowers()
            for join in joins { followers.join(isUnderWay: join.isUnderWay, pausing: join.pausing) }
            var outcomes: [Bool] = []
            for number in joins.indices {
                outcomes.append(followers.leave(isCanceled: number + 1 < joins.count || lastIsCanceled).pauses)
            }
            return outcomes.contains(true)
        }
        #expect(pauses([(false, true)]))
        #expect(!pauses([(true, true)]))
        #expect(!pauses([(false, false)]))
        #expect(!pauses([(true, true), (true, true)]))
        #expect(!pauses([(false, true), (true, false)]))
        #expect(!pauses([(false, false), (true, true)]))
        #expect(!pauses([(false, true), (true, true)], lastIsCanceled: false))
    }
}
