import Primitives

/// Has tags looked at of which more was stored, so that they stay within their limits: one look at a time, outside of
/// whatever stored the bytes.
///
/// A look sums all files of a tag, of which there may be a million. After one that found room, the growth of the tag is
/// counted, and the next look waits until that may have used the room up:
///
///     look    begins ── sums: 300 below the limit ── ends, room 300
///     growth         + 40 ─────────────────────────────── room 260 ── + 260 ── look
///
/// The lock is a leaf.
final class TagKeeper: Sendable {
    /// How much more a tag may store until it must be looked at.
    private struct Room {
        /// Bytes below the limit, as the last look has found; `nil` until it ends.
        var found: Int64?
        /// Most bytes by which it has grown since that look began; what the look saw of them counts twice.
        var grown: Int64 = 0

        /// Whether a look is to follow: nothing is left, as far as is known.
        var isUsedUp: Bool { found.map { $0 <= grown } ?? false }
    }

    private struct State {
        /// Holds these tags to their limits; `nil` until the cache is open, and when it closes.
        var hold: (@Sendable (Set<String>) async -> Void)?
        /// The names of tags that must be looked at.
        var pending: Set<String> = []
        /// The names of tags of which more is kept than their limits allow.
        var overfull: Set<String> = []
        /// What is known of tags since the last look at each.
        var rooms: [String: Room] = [:]
        /// What looks at them; `nil` when nothing is pending.
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())

    /// From now on `hold` is called with the tags that were noted.
    func start(_ hold: @escaping @Sendable (Set<String>) async -> Void) {
        state.withLock { $0.hold = hold }
        note([])
    }

    /// Notes that tags have grown by at most so many bytes.
    func grew(_ bytes: [String: Int64]) {
        let full = state.withLock { state in
            for (tag, count) in bytes {
                guard let room = state.rooms[tag] else { continue }
                state.rooms[tag]?.grown = min(room.grown + count, Usage.most)
            }
            return Set(bytes.keys.filter { state.rooms[$0]?.isUsedUp ?? true })
        }
        if !full.isEmpty { note(full) }
    }

    /// Whether a tag surely stays below its limit if `count` bytes more are stored; nothing is looked up.
    func hasRoom(for count: Int64, tag: String) -> Bool {
        state.withLock { state in
            guard let room = state.rooms[tag], let found = room.found else { return false }
            return found - room.grown > count
        }
    }

    /// Notes that a look at a tag begins: it sees what was stored until now.
    func lookBegins(tag: String) { state.withLock { $0.rooms[tag] = Room() } }

    /// Notes that a look has found a tag to occupy so many bytes beyond its limit, negative for less, and whether more
    /// is kept of it than the limit allows.
    func lookEnds(tag: String, excess: Int64, isOverfull: Bool) {
        let isUsedUp = state.withLock { state in
            if isOverfull { state.overfull.insert(tag) } else { state.overfull.remove(tag) }
            // Without a room, a change was noted in between.
            guard let grown = state.rooms[tag]?.grown else { return false }
            state.rooms[tag]?.found = -excess
            return grown > 0 && grown >= -excess
        }
        if isUsedUp { note([tag]) }
    }

    /// Notes that a look at a tag could not read the index: whatever it grows by next has it looked at again.
    func lookFailed(tag: String) { state.withLock { $0.rooms[tag] = nil } }

    /// Notes that anything may have changed of these tags.
    func note(_ tags: Set<String>) {
        state.withLock { state in
            for tag in tags { state.rooms[tag] = nil }
            state.pending.formUnion(tags)
            guard state.task == nil, !state.pending.isEmpty, let hold = state.hold else { return }
            state.task = Task(priority: .userInitiated) { [weak self] in
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

    /// Returns when all is looked at that was noted before, if the cache is open.
    func settle() async { await state.withLock { $0.task }?.value }

    /// Returns when all is looked at that was noted before; nothing is looked at afterwards.
    func stop() async {
        await settle()
        state.withLock { $0.hold = nil }
        await settle()
    }
}
