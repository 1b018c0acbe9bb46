import Primitives

/// Has tags looked at of which more was stored, so that they stay within their limits: one look at a time, outside of
/// whatever stored the bytes.
///
/// The lock is a leaf.
final class TagKeeper: Sendable {
    private struct State {
        /// Holds these tags to their limits; `nil` until the cache is open, and when it closes.
        var hold: (@Sendable (Set<String>) async -> Void)?
        /// The names of tags that must be looked at.
        var pending: Set<String> = []
        /// The names of tags of which more is kept than their limits allow.
        var overfull: Set<String> = []
        /// What looks at them; `nil` when nothing is pending.
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())

    /// From now on `hold` is called with the tags that were noted.
    func start(_ hold: @escaping @Sendable (Set<String>) async -> Void) {
        state.withLock { $0.hold = hold }
        note([])
    }

    /// Notes that more may be stored of these tags.
    func note(_ tags: Set<String>) {
        state.withLock { state in
            state.pending.formUnion(tags)
            guard state.task == nil, !state.pending.isEmpty, let hold = state.hold else { return }
            state.task = Task(executorPreference: DiskExecutor.shared) { [weak self] in
                while let tags = self?.next() { await hold(tags) }
            }
        }
    }

    private func next() -> Set<String>? {
        state.withLock { state in
            guard !state.pending.isEmpty, state.hold != nil else {
                state.task = nil
                return nil
            }
            defer { state.pending = [] }
            return state.pending
        }
    }

    /// Whether more is kept of a tag than its limit allows, as of the last look.
    var hasOverfull: Bool { state.withLock { !$0.overfull.isEmpty } }

    /// Notes whether more is kept of a tag than its limit allows.
    func setOverfull(_ isOverfull: Bool, tag: String) {
        state.withLock { state in
            if isOverfull { state.overfull.insert(tag) } else { state.overfull.remove(tag) }
        }
    }

    /// Returns when all is looked at that was noted before, if the cache is open.
    func settle() async { await state.withLock { $0.task }?.value }

    /// Returns when all is looked at that was noted before; nothing is looked at afterwards.
    func stop() async {
        await settle()
        state.withLock { $0.hold = nil }
        await settle()
    }
}
