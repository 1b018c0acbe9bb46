import Foundation
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseURLSession

@Suite("What is known of background transfers", .limit(minutes: 1))
struct TransferTableTests {
    private let ask = TransferAsk(title: "t", entry: "e", hole: 0..<100, validator: "\"v1\"")

    private func record(_ range: Range<Int64>? = 0..<100, of ask: TransferAsk? = nil) -> TransferRecord {
        TransferRecord(for: ask ?? self.ask, range: range, begun: 0)
    }

    private func arrival(_ record: TransferRecord) throws -> Arrival {
        let range = record.range ?? 0..<100
        return Arrival(
            record, record.range == nil ? .whole(length: 100) : .part(range, completeLength: 100),
            HTTPResponse(
                status: record.range == nil ? .ok : .partialContent, headerFields: [.eTag: record.validator ?? "\"v2\""]
            ),
            from: try ResourceURL("https://media.example/a"), length: range.upperBound - range.lowerBound)
    }

    /// A table of a process that began nothing before.
    private func prepared() -> TransferTable {
        var table = TransferTable()
        _ = table.learned([])
        return table
    }

    /// A request waits, with the transfers that it begins.
    private func wait(
        _ table: inout TransferTable, for ask: TransferAsk? = nil, largest: Int64 = 60
    ) throws -> (waiter: TransferTable.Waiter, records: [TransferRecord]) {
        let waiter = table.makeWaiter()
        let begun = table.wait(waiter, for: ask ?? self.ask, at: 0, largest: largest)
        let beginning = try #require(begun)
        #expect(beginning.canceled.isEmpty && beginning.others.isEmpty)
        return (waiter, beginning.records)
    }

    @Test func whatComesWakesThoseThatWaitForTheEntry() throws {
        var table = prepared()
        let (waiter, records) = try wait(&table)
        #expect(records.map(\.range) == [0..<60, 60..<100])
        let woken = table.arrived(try arrival(records[0]))
        #expect(woken?.waiters == [waiter])
        #expect(table.arrival(for: ask)?.record == records[0])
        // It need not wait.
        let again = table.wait(table.makeWaiter(), for: ask, at: 0, largest: 60) == nil
        #expect(again)
        // The rest still runs.
        let rest = TransferAsk(title: "t", entry: "e", hole: 60..<100, validator: "\"v1\"")
        let waiting = try wait(&table, for: rest)
        #expect(waiting.records.isEmpty)
    }

    @Test func twoRequestsDoNotBeginTheSame() throws {
        var table = prepared()
        let first = try wait(&table)
        let second = try wait(&table)
        #expect(second.records.isEmpty)
        let woken = table.arrived(try arrival(first.records[0]))
        #expect(woken?.waiters == [first.waiter, second.waiter])
    }

    @Test func aFailureIsToldToThoseThatWaitForItsFirstByte() throws {
        var table = prepared()
        let (waiter, records) = try wait(&table)
        let later = table.failed(records[1])
        #expect(later.isEmpty)
        let first = table.failed(records[0])
        #expect(first == [waiter])
        let again = try wait(&table)
        #expect(again.records.map(\.range) == [0..<60, 60..<100])
    }

    private func ask(as token: String) -> TransferAsk {
        TransferAsk(
            title: "t", entry: "e", hole: 0..<100, validator: "\"v1\"", form: .init(fields: [.authorization: token]))
    }

    @Test("a refusal is told to requests that are sent in the same way; others have to be sent themselves")
    func aRefusalIsTheAnswerToWhatWasSent() throws {
        var table = prepared()
        let old = try wait(&table, for: ask(as: "old"), largest: 100)
        let joined = try wait(&table, for: ask(as: "new"), largest: 100)
        #expect(joined.records.isEmpty)
        let first = table.refused(old.records[0])
        #expect(first.told == [old.waiter])
        #expect(first.others == [joined.waiter])
        let own = try wait(&table, for: ask(as: "new"), largest: 100)
        #expect(own.records.count == 1)
        let second = table.refused(own.records[0])
        #expect(second.told == [own.waiter])
        #expect(second.others.isEmpty)
        let again = table.refused(own.records[0])
        #expect(again.told.isEmpty && again.others.isEmpty)
    }

    @Test("how a transfer of an earlier process was sent is not known, and its refusal is no answer")
    func aRefusalOfAnEarlierProcessIsNoAnswer() throws {
        var table = TransferTable()
        let record = record()
        _ = table.learned([(1, record)])
        let joined = try wait(&table, for: ask(as: "new"), largest: 100)
        #expect(joined.records.isEmpty)
        let refused = table.refused(record)
        #expect(refused.told.isEmpty)
        #expect(refused.others == [joined.waiter])
    }

    @Test(
        "whatever happens, a transfer runs for the first byte of each request that waits",
        arguments: 1...200 as ClosedRange<UInt64>)
    func noRequestWaitsForNothing(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var table = prepared()
        var running: [TransferRecord] = []
        var come: [TransferRecord] = []
        var waiting: [TransferTable.Waiter: TransferAsk] = [:]
        for _ in 0..<60 {
            switch Int.random(in: 0..<5, using: &generator) {
            case 0, 1:
                let start = Int64.random(in: 0..<90, using: &generator)
                let hole = start..<Int64.random(in: start + 1...100, using: &generator)
                let isWhole = Int.random(in: 0..<8, using: &generator) == 0
                let ask = TransferAsk(
                    title: "t", entry: "e", hole: isWhole ? nil : hole, validator: isWhole ? nil : "\"v1\"")
                let waiter = table.makeWaiter()
                if let beginning = table.wait(waiter, for: ask, at: 0, largest: 30) {
                    running += beginning.records
                    waiting[waiter] = ask
                }
            case 2:
                guard let record = running.randomElement(using: &generator) else { continue }
                running.removeAll { $0 == record }
                come.append(record)
                let woken = table.arrived(try arrival(record))
                for waiter in try #require(woken).waiters { waiting[waiter] = nil }
            case 3:
                guard let record = running.randomElement(using: &generator) else { continue }
                running.removeAll { $0 == record }
                for waiter in table.failed(record) { waiting[waiter] = nil }
            default:
                if Bool.random(using: &generator), let record = come.randomElement(using: &generator) {
                    come.removeAll { $0 == record }
                    table.drop([record])
                } else {
                    let isWhole = Bool.random(using: &generator)
                    let givenUp = table.giveUp { ($0.range == nil) == isWhole }
                    running.removeAll { ($0.range == nil) == isWhole }
                    for waiter in givenUp.waiters { waiting[waiter] = nil }
                }
            }
            for ask in waiting.values {
                let brings = running.contains { record in
                    guard let hole = ask.hole else { return record.range == nil }
                    return record.range?.contains(hole.lowerBound) == true
                }
                #expect(brings, "seed \(seed): \(ask) waits for nothing")
            }
        }
    }

    @Test("the end of a transfer that was given up is not that of the one in its place")
    func givenUpTransfersEndUnnoticed() throws {
        var table = prepared()
        let old = try wait(&table, largest: 100).records
        let mustCancel = !table.began(old[0], as: 7)
        #expect(!mustCancel)
        let givenUp = table.giveUp { $0.title == "t" }
        #expect(givenUp.numbers == [7])
        #expect(givenUp.waiters.count == 1)
        let new = try wait(&table, largest: 100)
        #expect(new.records.count == 1)
        let told = table.failed(old[0])
        #expect(told.isEmpty)
        #expect(!table.isWanted(old[0]))
        // It came while it was given up.
        let woken = table.arrived(try arrival(old[0]))
        #expect(woken?.waiters == nil)
        #expect(table.arrival(for: ask) == nil)
    }

    @Test func aTransferThatIsGivenUpWhileItBeginsIsCanceled() throws {
        var table = prepared()
        let records = try wait(&table, largest: 100).records
        let givenUp = table.giveUp { _ in true }
        #expect(givenUp.numbers.isEmpty)
        let goesOn = table.began(records[0], as: 1)
        #expect(!goesOn)
    }

    @Test func anEarlierProcessesTransfersAreJoinedOrCanceled() throws {
        var table = TransferTable()
        let (own, ended) = (record(), record(0..<40))
        let paused = record(of: TransferAsk(title: "paused", entry: "p", hole: 0..<100, validator: "\"v1\""))
        table.keep(running: ["t"], titles: ["t", "paused"])
        // Told before it is known what runs.
        #expect(table.isWanted(ended))
        _ = table.arrived(try arrival(ended))
        let canceled = table.learned([(1, own), (2, paused), (3, nil), (4, ended)])
        #expect(canceled == [2, 3])
        let behind = TransferAsk(title: "t", entry: "e", hole: 40..<100, validator: "\"v1\"")
        let waiting = try wait(&table, for: behind)
        #expect(waiting.records.isEmpty)
        // Told twice.
        #expect(!table.isWanted(ended))
    }

    @Test("what an earlier process has taken over is told again, and not taken over twice")
    func whatLiesThereIsNotWantedAgain() throws {
        let record = record()
        var table = TransferTable([try arrival(record)])
        #expect(!table.isWanted(record))
        let canceled = table.learned([(1, record)])
        #expect(canceled.isEmpty)
        #expect(!table.isWanted(record))
        let woken = table.arrived(try arrival(record))
        #expect(woken?.waiters == nil)
        #expect(table.arrival(for: ask)?.record == record)
    }

    @Test("what is told after those that run were listed is kept, and takes the place of what has begun since")
    func whatIsToldLateIsKept() throws {
        var table = prepared()
        table.keep(running: ["t"], titles: ["t", "paused"])
        let late = record(0..<60)
        let (waiter, begun) = try wait(&table)
        #expect(begun.map(\.range) == [0..<60, 60..<100])
        for (number, record) in begun.enumerated() {
            let goesOn = table.began(record, as: number)
            #expect(goesOn)
        }
        let taken = table.arrived(try arrival(late))
        #expect(taken?.waiters == [waiter])
        #expect(taken?.canceled == [0])
        #expect(table.arrival(for: ask)?.record == late)
        // The end of the one that it replaced.
        #expect(!table.isWanted(begun[0]))
        table.drop([late])
        // Told twice.
        #expect(!table.isWanted(late))
        let (paused, gone) = (TransferAsk(title: "paused", entry: "p"), TransferAsk(title: "gone", entry: "g"))
        #expect(table.isWanted(record(nil, of: paused)))
        #expect(!table.isWanted(record(nil, of: gone)))
        table.release("paused", keepingArrivals: true)
        #expect(table.isWanted(record(nil, of: paused)))
        table.release("paused", keepingArrivals: false)
        #expect(!table.isWanted(record(nil, of: paused)))
    }

    @Test func aRemovedDownloadsArrivalIsNotKept() {
        var table = TransferTable()
        table.keep(running: ["other"], titles: ["other"])
        #expect(!table.isWanted(record()))
    }

    @Test func aChangeIsToldOnceAndTheNewFileStays() throws {
        var table = prepared()
        let asked = try wait(&table, largest: 100).records[0]
        let changed = Arrival(
            asked, .whole(length: 300), HTTPResponse(status: .ok, headerFields: [.eTag: "\"v2\""]),
            from: try ResourceURL("https://media.example/a"), length: 300)
        _ = table.arrived(changed)
        let answer = try #require(table.arrival(for: ask))
        let useless = table.answered(ask, by: answer)
        #expect(useless == [])
        #expect(table.arrival(for: ask) == nil)
        #expect(table.arrival(for: TransferAsk(title: "t", entry: "e")) != nil)
        let rest = TransferAsk(title: "t", entry: "e", hole: 10..<300, validator: "\"v2\"")
        #expect(table.arrival(for: rest) != nil)
    }

    @Test func newsOfAChangeIsOfNoUseOnceItWasTold() throws {
        var table = prepared()
        let records = try wait(&table).records
        for record in records {
            let changed = Arrival(
                record, .changed, HTTPResponse(status: .preconditionFailed, headerFields: [.eTag: "\"v1\""]),
                from: try ResourceURL("https://media.example/a"), length: 0)
            _ = table.arrived(changed)
        }
        let answer = try #require(table.arrival(for: ask))
        let useless = table.answered(ask, by: answer)
        #expect(Set(useless ?? []) == Set(records))
    }

    @Test func partsOfTheOldFileAreOfNoUseOnceItHasChanged() throws {
        var table = prepared()
        let records = try wait(&table).records
        _ = table.arrived(try arrival(records[1]))
        _ = table.arrived(
            Arrival(
                records[0], .changed, HTTPResponse(status: .preconditionFailed),
                from: try ResourceURL("https://media.example/a"), length: 0))
        let answer = try #require(table.arrival(for: ask))
        let useless = table.answered(ask, by: answer)
        #expect(Set(useless ?? []) == Set(records))
    }

    @Test func aTitleThatIsRemovedBeforeItsTransfersAreKnownHasNone() throws {
        for keepingArrivals in [false, true] {
            var table = TransferTable()
            table.keep(running: ["t"], titles: ["t"])
            table.release("t", keepingArrivals: keepingArrivals)
            #expect(table.isWanted(record()) == keepingArrivals)
            let canceled = table.learned([(1, record())])
            #expect(canceled == [1])
        }
    }

    @Test("transfers of an earlier process that could use other networks end, and not those of this one")
    func transfersUseTheNetworksOfTheirRequests() throws {
        func ask(_ policy: NetworkPolicy) -> TransferAsk {
            TransferAsk(
                title: "t", entry: "e", hole: 0..<100, validator: "\"v1\"", networks: TransferNetworks(policy))
        }
        let policies = [NetworkPolicy.any, .inexpensive, .inexpensiveAndUnconstrained]
        for former in policies {
            for policy in policies {
                var table = TransferTable()
                _ = table.learned([(7, record(of: ask(former)))])
                let isSame = former == policy
                let waiter = table.makeWaiter()
                let begun = table.wait(waiter, for: ask(policy), at: 0, largest: 100)
                let beginning = try #require(begun)
                #expect(beginning.canceled == (isSame ? [] : [7]))
                #expect(beginning.records.map(\.networks) == (isSame ? [] : [TransferNetworks(policy)]))
                // Two titles with this file do not end each other's.
                let joined = try wait(&table, for: ask(former))
                #expect(joined.records.isEmpty)
            }
        }
        var table = TransferTable()
        _ = table.learned([(7, record(of: ask(.any)))])
        let first = try wait(&table, for: ask(.any))
        let second = table.makeWaiter()
        let begun = table.wait(second, for: ask(.inexpensive), at: 0, largest: 100)
        #expect(begun?.others == [first.waiter])
    }

    @Test("a title that may use other networks now keeps no transfer of an earlier process that is learned later")
    func aConfinedTitleKeepsNoOtherTransfers() {
        for policy in [NetworkPolicy.any, .inexpensive] {
            var table = TransferTable()
            table.keep(running: ["t"], titles: ["t"])
            table.confine("t", to: TransferNetworks(policy))
            let canceled = table.learned([(7, record())])
            #expect(canceled == (policy == .any ? [] : [7]))
        }
    }

    // MARK: - What the system is told

    /// Whether the system is told now.
    private func isTold(_ table: inout TransferTable) -> Bool {
        table.settled.map { table.takeSettled(since: $0) } ?? false
    }

    /// A table of a launch in which the download `t` runs.
    private func launched(arrivals: [Arrival] = [], failed: [TransferRecord] = []) -> TransferTable {
        var table = TransferTable()
        for arrival in arrivals { _ = table.arrived(arrival) }
        for record in failed { _ = table.failed(record) }
        table.begin("t")
        table.keep(running: ["t"], titles: ["t", "paused"])
        _ = table.learned([])
        _ = table.allWasTold()
        return table
    }

    @Test func theSystemIsToldOnceWhenWhatFollowsHasBegun() throws {
        let arrived = try arrival(record())
        let other = try arrival(record(nil, of: TransferAsk(title: "t", entry: "other")))
        var table = launched(arrivals: [arrived, other])
        let atOnce = isTold(&table)
        table.stored(arrived.record)
        // It would suspend the program before the next one has begun.
        let stored = isTold(&table)
        _ = try wait(&table, for: TransferAsk(title: "t", entry: "next"))
        let begun = isTold(&table)
        table.stored(other.record)
        _ = try wait(&table, for: TransferAsk(title: "t", entry: "last"))
        let allStored = isTold(&table)
        #expect([atOnce, stored, begun, allStored] == [false, false, false, true])
        let again = isTold(&table)
        let wave = table.allWasTold()
        let next = isTold(&table)
        let overdue = table.takeOverdue(wave)
        #expect([again, next, overdue] == [false, true, false])
    }

    @Test("the system is not told while something happens")
    func quietIsWaitedFor() throws {
        for isQuiet in [true, false] {
            var table = launched()
            _ = try wait(&table)
            let moment = try #require(table.settled)
            // Others of the same stream begin.
            if !isQuiet { _ = try wait(&table, for: TransferAsk(title: "t", entry: "other")) }
            let isTold = table.takeSettled(since: moment)
            #expect(isTold == isQuiet)
        }
    }

    @Test("nothing is dealt with before the cache is open and has said what it wants")
    func anAppThatHasNotOpenedItsCacheIsWaitedFor() {
        var table = TransferTable()
        let wave = table.allWasTold()
        let early = isTold(&table)
        let overdue = table.takeOverdue(wave)
        #expect(!early)
        #expect(overdue)
    }

    @Test("a transfer that has failed is dealt with when others have begun in its place, or its download does not run")
    func failuresAreFollowedByANewBeginning() throws {
        let changes: [(inout TransferTable) throws -> Void] = [
            { _ = try wait(&$0) }, { $0.rest("t") }, { $0.release("t", keepingArrivals: true) },
        ]
        for change in changes {
            var table = launched(failed: [record()])
            let atOnce = isTold(&table)
            try change(&table)
            let changed = isTold(&table)
            #expect([atOnce, changed] == [false, true])
        }
    }

    @Test("the time that is over is that of what was told then, not of what is told later")
    func theTimeOfAnEarlierCallIsItsOwn() throws {
        var table = launched()
        _ = try wait(&table)
        let first = isTold(&table)
        _ = table.failed(record())
        let second = table.allWasTold()
        let ofFirst = table.takeOverdue(second - 1)
        let ofSecond = table.takeOverdue(second)
        #expect([first, ofFirst, ofSecond] == [true, false, true])
        // Of two that wait the first is over first, for both.
        _ = table.failed(record())
        let third = table.allWasTold()
        _ = table.allWasTold()
        let ofThird = table.takeOverdue(third)
        let ofFourth = table.takeOverdue(third + 1)
        #expect([ofThird, ofFourth] == [true, false])
    }

    @Test("what the system tells of titles that do not run is not waited for")
    func restingTitlesAreSettled() throws {
        let others = ["paused", "gone"].map { record(of: TransferAsk(title: $0, entry: $0, hole: 0..<100)) }
        var table = launched(arrivals: [try arrival(others[0])], failed: others)
        _ = try wait(&table)
        let settled = isTold(&table)
        #expect(settled)
        table.stored(others[0])
        _ = table.allWasTold()
        let again = isTold(&table)
        #expect(again)
    }
}
