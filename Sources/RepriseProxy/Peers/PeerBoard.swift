import Primitives
import Reprise

/// What other servers said last; they are asked only while someone looks, and nothing here waits for them unless it
/// says so.
///
/// Its lock is a leaf.
final class PeerBoard: Sendable {
    private struct Entry {
        var answer: Peer.Answer
        /// By the monotonic clock.
        var time: Duration
    }

    private struct State {
        var entries: [Int: Entry] = [:]
        /// The question to all that is under way, or was the last one.
        var round: Task<Void, Never>?
        /// When it began; `nil` before the first one.
        var began: Duration?
        var isRunning = false
        var isClosed = false
    }

    private let peers: [Peer]
    private let clock: CacheClock
    private let state = Mutex(State())

    /// How long the others have to answer.
    static let patience = Duration.seconds(2)
    /// How long after a question the next one may come.
    static let pause = Duration.seconds(2)
    /// How long an answer counts.
    static let lifetime = Duration.seconds(15)

    init(_ peers: [Peer], clock: CacheClock) { (self.peers, self.clock) = (peers, clock) }

    /// What is known now; has those asked again that were asked some time ago.
    func look() -> [(address: String, answer: Peer.Answer)] {
        let now = clock.elapsed()
        let entries = state.withLock { $0.entries }
        begin()
        return peers.indices.map { index in
            let entry = entries[index].flatMap { now - $0.time < Self.lifetime ? $0 : nil }
            return (peers[index].address, entry?.answer ?? Peer.Answer(.unknown))
        }
    }

    /// Waits until the others have answered, if they are being asked.
    func settle() async {
        begin()
        await state.withLock { $0.round }?.value
    }

    /// Waits until the others have answered, if nothing is known of one of them: a peer that is away delays its first
    /// question only.
    func know() async {
        if look().contains(where: { $0.answer.state == .unknown }) { await settle() }
    }

    /// Asks nothing any more.
    func close() {
        let round = state.withLock { state in
            state.isClosed = true
            return state.round
        }
        round?.cancel()
    }

    private func begin() {
        guard !peers.isEmpty else { return }
        let now = clock.elapsed()
        state.withLock { state in
            guard !state.isClosed, !state.isRunning, state.began.map({ now - $0 >= Self.pause }) ?? true else { return }
            (state.isRunning, state.began) = (true, now)
            state.round = Task { await askAll() }
        }
    }

    private func askAll() async {
        await withTaskGroup(of: Void.self) { group in
            for index in peers.indices {
                group.addTask { [self] in
                    let answer = await ask(peers[index])
                    // One that is slow keeps back nothing of the others.
                    state.withLock { $0.entries[index] = Entry(answer: answer, time: clock.elapsed()) }
                }
            }
        }
        state.withLock { $0.isRunning = false }
    }

    /// What `peer` says in time.
    private func ask(_ peer: Peer) async -> Peer.Answer {
        await withTaskGroup(of: Peer.Answer.self) { group in
            defer { group.cancelAll() }
            group.addTask { await peer.ask() }
            group.addTask { [clock] in
                try? await clock.sleep(Self.patience)
                return Peer.Answer(.unreachable)
            }
            return await group.next() ?? Peer.Answer(.unreachable)
        }
    }
}
