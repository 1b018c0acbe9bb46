import Primitives

/// Counts of complete and partial entries: taken once, and updated from then on.
///
/// Only its record tells whether an entry is complete, and reading all records for each scrape of a monitor would take
/// too long. The lock is a leaf.
final class EntryCensus: Sendable {
    /// A written entry; `isComplete` is `nil` for a removed one.
    struct Change: Sendable {
        let name: String
        let isComplete: Bool?
    }

    private struct Tally {
        /// By the first 64 bits of their names, which are hashes.
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
        /// The records are being read; the changes since then.
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

    /// Notes changes in the order in which they were written.
    ///
    /// Before the first count, `changes` is not evaluated.
    func note(_ changes: @autoclosure () -> [Change]) {
        state.withLock { state in
            switch state {
            case .unknown: break
            case .counting(let earlier): state = .counting(earlier + changes())
            case .known(var tally):
                // So that the tally is not copied when it changes.
                state = .unknown
                for change in changes() { tally.apply(change) }
                state = .known(tally)
            }
        }
    }

    /// Called before the records are read.
    func begin() { state.withLock { $0 = .counting([]) } }

    /// Called with the entries that were read.
    ///
    /// Some may have changed since ``begin()``, before or after they were read.
    func finish(_ entries: [Change]) -> EntryCounts {
        state.withLock { state in
            var tally = Tally()
            for entry in entries { tally.apply(entry) }
            if case .counting(let changes) = state { for change in changes { tally.apply(change) } }
            state = .known(tally)
            return tally.counts
        }
    }

    /// Called if the records cannot be read.
    func giveUp() { state.withLock { $0 = .unknown } }
}

extension EntryCensus.Change {
    init(_ record: GenerationRecord, _ usage: Usage, name: String) {
        self.init(name: name, isComplete: record.completeLength == usage.stored)
    }
}
