import Foundation

/// What is known of transfers in the background, and which requests wait for them: decisions only, without the session,
/// files and tasks.
struct TransferTable: Sendable {
    /// Stands for a request that waits.
    typealias Waiter = UInt64

    /// A transfer that has not ended.
    private struct Running {
        let record: TransferRecord
        /// How it was sent; `nil` for one of an earlier process, of which that is not known.
        var form: TransferAsk.Form?
        /// `nil` until the session has begun it.
        var number: Int?
    }

    private var running: [UUID: Running] = [:]
    private var arrivals: [UUID: Arrival] = [:]
    private var waiters: [Waiter: TransferAsk] = [:]
    private var lastWaiter: Waiter = 0
    /// Stands for this process.
    private let process = UUID()
    /// Transfers of earlier processes that are known here: they run, have come, have ended or were given up.
    private var known: Set<UUID> = []
    /// Arrivals that have said that a file has changed, which is said once.
    private var told: Set<UUID> = []
    /// Titles whose transfers of earlier processes go on, and titles of which those that have come are kept; `nil`
    /// before the cache has said so.
    private var kept: (running: Set<String>, titles: Set<String>)?
    /// The networks to which titles were confined in this process.
    private var networks: [String: TransferNetworks] = [:]
    /// Titles whose downloads run.
    private var active: Set<String> = []
    /// Those of them of which no request has waited for a transfer since they began, or something was told of them.
    private var expected: Set<String> = []
    /// How often something happened after which transfers may begin.
    private var changes: UInt64 = 0
    /// The last time that the system had told all.
    private var lastWave = 0
    /// That time, unless the system knows that all is dealt with.
    private var wave: Int?

    /// Begins with what an earlier process has left.
    init(_ arrivals: [Arrival] = []) {
        for arrival in arrivals { self.arrivals[arrival.record.id] = arrival }
    }

    // MARK: - Requests

    /// What answers a request; of several, the one that brings most.
    ///
    /// One that only shows that the file has changed answers if no other one does, and once: it would replace what has
    /// been stored since.
    func arrival(for ask: TransferAsk) -> Arrival? {
        arrivals.values
            .filter { $0.answer(to: ask) != nil && !($0.showsChange(to: ask) && told.contains($0.record.id)) }
            .max { reach($0, ask) < reach($1, ask) }
    }

    private func reach(_ arrival: Arrival, _ ask: TransferAsk) -> Int64 {
        arrival.showsChange(to: ask) ? -1 : arrival.range?.upperBound ?? 0
    }

    /// The arrival answers a request; returns records of those that are of no use afterwards, or `nil` if it leaves all
    /// as they are.
    ///
    /// After the news that the file has changed these are all parts of the old one, and other news of that kind.
    mutating func answered(_ ask: TransferAsk, by arrival: Arrival) -> [TransferRecord]? {
        guard arrival.showsChange(to: ask) else { return nil }
        told.insert(arrival.record.id)
        return arrivals.values
            .filter { $0.record.isOf(ask) && ($0.verdict == .changed || $0.validator == ask.validator) }.map(\.record)
    }

    /// Records of the transfers that a request needs besides those that run or have come.
    private func missing(for ask: TransferAsk, at time: Int64, largest: Int64) -> [TransferRecord] {
        let alike = running.values.map(\.record).filter { $0.isOf(ask) }
        guard let hole = ask.hole else {
            return alike.isEmpty ? [TransferRecord(for: ask, range: nil, begun: time, by: process)] : []
        }
        let arrived = arrivals.values
            .filter { $0.record.entry == ask.entry && $0.validator == ask.validator }.compactMap(\.range)
        return TransferPlan.transfers(for: hole, underWay: alike.compactMap(\.range) + arrived, largest: largest)
            .map { TransferRecord(for: ask, range: $0, begun: time, by: process) }
    }

    /// Whether a request may begin transfers; false if its title has another network policy by now.
    ///
    /// Such a request belongs to a run that is about to be canceled. Its transfers would block those of the next run.
    func isWithinBounds(_ ask: TransferAsk) -> Bool { networks[ask.title].map { $0 == ask.networks } ?? true }

    /// A number for a request that may wait.
    mutating func makeWaiter() -> Waiter {
        lastWaiter += 1
        return lastWaiter
    }

    /// What follows when a request waits.
    struct Beginning: Sendable {
        /// Transfers to begin.
        let records: [TransferRecord]
        /// Numbers of transfers to cancel: of an earlier process, which could use other networks.
        let canceled: [Int]
        /// Requests that waited for these, and look again.
        let others: [Waiter]
    }

    /// A request waits; returns `nil` if it must look again, because what it would wait for has come.
    ///
    /// While it waits, a transfer runs that should bring its first byte. Therefore this is one step: a transfer that
    /// ends between the question what is missing and the wait would wake nothing.
    mutating func wait(_ waiter: Waiter, for ask: TransferAsk, at time: Int64, largest: Int64) -> Beginning? {
        guard arrival(for: ask) == nil else { return nil }
        // Not of this process: two titles with one file would end each other's for ever.
        let (canceled, others) = giveUp { [process] in
            $0.isOf(ask) && $0.process != process && $0.networks != ask.networks
        }
        let new = missing(for: ask, at: time, largest: largest)
        waiters[waiter] = ask
        active.insert(ask.title)
        expected.remove(ask.title)
        changes += 1
        for record in new { running[record.id] = Running(record: record, form: ask.form) }
        return Beginning(records: new, canceled: canceled, others: others)
    }

    /// A request waits no more.
    mutating func leave(_ waiter: Waiter) { waiters[waiter] = nil }

    /// The session has begun a transfer under a number; false if it must be canceled, because it was given up by then.
    mutating func began(_ record: TransferRecord, as number: Int) -> Bool {
        running[record.id]?.number = number
        return running[record.id] != nil
    }

    // MARK: - What the session tells

    /// The session has these transfers; returns the numbers of those that must be canceled.
    mutating func learned(_ found: [(number: Int, record: TransferRecord?)]) -> [Int] {
        var unwanted: [Int] = []
        for (number, record) in found {
            guard let record else {
                unwanted.append(number)
                continue
            }
            // Its end was told before. Or the process was killed after it had taken over the file, and before the
            // system learned that.
            let isNews = known.insert(record.id).inserted
            guard isNews, arrivals[record.id] == nil, running[record.id] == nil else { continue }
            let isConfined = networks[record.title].map { $0 != record.networks } ?? false
            if kept?.running.contains(record.title) ?? true, !isConfined {
                running[record.id] = Running(record: record, number: number)
            } else {
                unwanted.append(number)
            }
        }
        return unwanted
    }

    /// Whether the app keeps what has come: not if it was told before, and not if it was given up.
    ///
    /// The system may tell of the end of a transfer after it has listed those that run. One of which nothing is known
    /// is kept as long as its title may be a download, also one that does not run at present.
    func isWanted(_ record: TransferRecord) -> Bool {
        guard arrivals[record.id] == nil else { return false }
        if running[record.id] != nil { return true }
        guard record.process != process, !known.contains(record.id) else { return false }
        return kept?.titles.contains(record.title) ?? true
    }

    /// A response has come and lies in the folder; returns the requests that look again, and the numbers of transfers
    /// to cancel that were begun in its place because it was not known; or `nil` if it was given up in the meantime and
    /// has to go.
    mutating func arrived(_ arrival: Arrival) -> (waiters: [Waiter], canceled: [Int])? {
        guard isWanted(arrival.record) else { return nil }
        _ = end(arrival.record)
        arrivals[arrival.record.id] = arrival
        let replaced = running.values.filter { arrival.replaces($0.record) }
        for transfer in replaced { running[transfer.record.id] = nil }
        return (takeWaiters { $0.entry == arrival.record.entry }, replaced.compactMap(\.number))
    }

    /// A transfer has ended and brought nothing to keep; returns the requests that are told.
    mutating func failed(_ record: TransferRecord) -> [Waiter] {
        // One that is not known to run was given up, and others may have begun in its place.
        end(record) ? takeWaiters { record.concerns($0) } : []
    }

    /// The origin has refused a transfer; returns the requests that are told, and those that look again: what was sent
    /// otherwise, such as with credentials that are others by now, is no answer to them, and they have to be sent.
    mutating func refused(_ record: TransferRecord) -> (told: [Waiter], others: [Waiter]) {
        let form = running[record.id]?.form
        guard end(record) else { return ([], []) }
        let told = takeWaiters { record.concerns($0) && $0.form == form }
        return (told, takeWaiters { record.concerns($0) })
    }

    private mutating func end(_ record: TransferRecord) -> Bool {
        let wasRunning = running.removeValue(forKey: record.id) != nil
        let isNews = record.process != process && known.insert(record.id).inserted
        if wasRunning || isNews { expect(record.title) }
        return wasRunning
    }

    private mutating func expect(_ title: String) {
        changes += 1
        if active.contains(title) { expected.insert(title) }
    }

    private mutating func takeWaiters(where isMeant: (TransferAsk) -> Bool) -> [Waiter] {
        let meant = waiters.filter { isMeant($0.value) }.keys.sorted()
        for waiter in meant { waiters[waiter] = nil }
        return meant
    }

    // MARK: - What downloads want

    /// Says which titles of an earlier process go on, and of which what has come is kept.
    mutating func keep(running: Set<String>, titles: Set<String>) {
        kept = (running, titles)
    }

    /// The transfers of a title may use these networks from now on; those of earlier processes that are not known yet,
    /// and use others, do not go on.
    mutating func confine(_ title: String, to networks: TransferNetworks) { self.networks[title] = networks }

    /// A download runs from now on, and its requests will come.
    mutating func begin(_ title: String) {
        changes += 1
        if active.insert(title).inserted { expected.insert(title) }
    }

    /// A download does not run at present; its transfers go on.
    mutating func rest(_ title: String) {
        active.remove(title)
        expected.remove(title)
    }

    /// The transfers of a title do not go on any more, nor do those of earlier processes that are not known yet;
    /// without `keepingArrivals`, what these bring is not kept either.
    mutating func release(_ title: String, keepingArrivals: Bool) {
        kept?.running.remove(title)
        if !keepingArrivals {
            kept?.titles.remove(title)
            networks[title] = nil
        }
        rest(title)
    }

    /// Gives transfers up; returns their numbers, which must be canceled, and the requests that wait for some of them.
    mutating func giveUp(where isMeant: (TransferRecord) -> Bool) -> (numbers: [Int], waiters: [Waiter]) {
        let meant = running.values.filter { isMeant($0.record) }
        for transfer in meant { running[transfer.record.id] = nil }
        let waiters = takeWaiters { ask in meant.contains { $0.record.isOf(ask) } }
        return (meant.compactMap(\.number), waiters)
    }

    /// Whether the response of a transfer has come, and is not dropped.
    func hasArrived(_ record: TransferRecord) -> Bool { arrivals[record.id] != nil }

    /// The lengths of what has come for an entry.
    func lengths(ofArrivalsFor entry: String) -> [Int64] {
        arrivals.values.filter { $0.record.entry == entry }.map(\.length)
    }

    /// Records of what has come.
    func arrived(where isMeant: (Arrival) -> Bool) -> [TransferRecord] {
        arrivals.values.filter(isMeant).map(\.record)
    }

    /// What has come is stored, and what follows has not begun.
    mutating func stored(_ record: TransferRecord) {
        // Without it, its title has ended in the meantime.
        guard arrivals[record.id] != nil else { return }
        drop([record])
        expect(record.title)
    }

    /// What has come is stored, or of no use.
    mutating func drop(_ records: [TransferRecord]) {
        for record in records {
            arrivals[record.id] = nil
            told.remove(record.id)
        }
    }

    // MARK: - What the system is told

    /// The system has told all; returns a number for this time.
    mutating func allWasTold() -> Int {
        lastWave += 1
        // Of two that are not dealt with, the time for the first one is over first.
        wave = wave ?? lastWave
        return lastWave
    }

    /// A number for the present moment if all that was told is dealt with; `nil` if it isn't, or the system knows.
    ///
    /// What has come is stored then, but for titles that do not run, and what comes next has begun: the system may
    /// suspend the program at once, and nothing would begin until a person opens the app.
    var settled: UInt64? {
        guard wave != nil, kept != nil, expected.isEmpty,
            arrivals.values.allSatisfy({ !active.contains($0.record.title) })
        else { return nil }
        return changes
    }

    /// Whether nothing has happened since that moment, so that the system is told; true once.
    mutating func takeSettled(since moment: UInt64) -> Bool {
        guard settled == moment else { return false }
        wave = nil
        return true
    }

    /// Whether the time is over for what was told then, and the system is told; true once.
    mutating func takeOverdue(_ wave: Int) -> Bool {
        guard let waiting = self.wave, waiting <= wave else { return false }
        self.wave = nil
        return true
    }
}

extension TransferRecord {
    /// Whether it is to bring the first byte that `ask` waits for.
    fileprivate func concerns(_ ask: TransferAsk) -> Bool {
        guard isOf(ask) else { return false }
        guard let range, let hole = ask.hole else { return true }
        return range.contains(hole.lowerBound)
    }
}
