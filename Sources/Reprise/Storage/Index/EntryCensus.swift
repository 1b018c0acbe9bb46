import Primitives

/// Which entries are complete: counted once, and kept up to date from then on.
///
/// Only a record says whether its entry is complete, and to read all of them takes too long for each scrape of a
/// monitor. The lock is a leaf.
final class EntryCensus: Sendable {
    /// An entry as it was written; `isComplete` is `nil` for one that was removed.
    struct Change: Sendable {
        let name: String
        let isComplete: Bool?
    }

    private struct Tally {
        /// By the first 64 bits of their names, which are hashes: so much tells them apart.
        private var entries: [UInt64: Bool] = [:]
        private(set) var counts = EntryCounts()

        mutating func apply(_ change: Change) {
            guard let number = UInt64(change.name.prefix(16), radix: 16) else { return }
            if let before = entries[number] { counts.add(-1, isComplete: before) }
            entries[number] = change.isComplete
            if let isComplete = change.isComplete { counts.add(1, isComplete: isComplete) }
        }
    }

    private enum State {
        case unknown
        /// The records are being read; what changed since then.
        case counting([Change])
        case known(Tally)
    }

    private let state = Mutex(State.unknown)
    /// Admits one count at a time.
    let turn = Turn()

    /// `nil` before the first count.
    var counts: EntryCounts? {
        state.withLock { state -> EntryCounts? in
            guard case .known(let tally) = state else { return nil }
            return tally.counts
        }
    }

    /// Notes what was written, in the order in which it was.
    ///
    /// Before the first count, `changes` are not asked for.
    func note(_ changes: @autoclosure () -> [Change]) {
        state.withLock { state in
            switch state {
            case .unknown: break
            case .counting(let earlier): state = .counting(earlier + changes())
            case .known(var tally):
                // Not twice in memory while it changes.
                state = .unknown
                for change in changes() { tally.apply(change) }
                state = .known(tally)
            }
        }
    }

    /// The records are read from now on.
    func begin() { state.withLock { $0 = .counting([]) } }

    /// The entries that were read; some may have changed since ``begin()``, before or after they were read.
    func finish(_ entries: [Change]) -> EntryCounts {
        state.withLock { state in
            var tally = Tally()
            for entry in entries { tally.apply(entry) }
            if case .counting(let changes) = state { for change in changes { tally.apply(change) } }
            state = .known(tally)
            return tally.counts
        }
    }

    /// The records could not be read.
    func giveUp() { state.withLock { $0 = .unknown } }
}

extension Index {
    /// How many entries there are, complete and partial.
    func entryCounts() async throws -> EntryCounts {
        if let counts = census.counts { return counts }
        try await census.turn.take()
        defer { census.turn.leave() }
        if let counts = census.counts { return counts }
        census.begin()
        do {
            return census.finish(try await DiskQueue.scans.run { try allEntries() })
        } catch {
            census.giveUp()
            throw error
        }
    }

    private func allEntries() throws(RepriseError) -> [EntryCensus.Change] {
        try read { database in
            try EntryRow.compactMap(database, sql: EntryRow.withGenerations) { row in
                guard let generation = row.generation, let record = codec.decode(generation) else {
                    return EntryCensus.Change(name: row.name, isComplete: false)
                }
                return EntryCensus.Change(record, generation.usage, name: row.name)
            }
        }
    }
}

extension EntryCensus.Change {
    /// An entry with that record.
    init(_ record: GenerationRecord, _ usage: Usage, name: String) {
        self.init(name: name, isComplete: record.completeLength == usage.stored)
    }
}
