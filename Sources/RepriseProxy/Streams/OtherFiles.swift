import Primitives
import Reprise

/// Stored responses that are not looked at again, because their first bytes have shown that they are no playlists, or
/// because they are playlists beyond a limit.
///
/// In memory only, and a bounded number of them: one that is forgotten is looked at once more.
final class OtherFiles: Sendable {
    private struct State {
        /// Generations noted last.
        var recent: Set<String> = []
        /// Those noted before.
        var former: Set<String> = []
    }

    /// Number of generations noted before those of the time before are forgotten.
    private let capacity: Int
    /// A leaf.
    private let state = Mutex(State())

    init(capacity: Int = 4096) { self.capacity = capacity }

    /// Notes the response with this metadata; does nothing for one that is not stored.
    func note(_ information: ContentInformation) {
        guard !information.generation.isEmpty else { return }
        state.withLock { state in
            if state.recent.count >= capacity { (state.former, state.recent) = (state.recent, []) }
            state.recent.insert(information.generation)
        }
    }

    /// Whether the response with this metadata was noted.
    func contains(_ information: ContentInformation) -> Bool {
        state.withLock {
            $0.recent.contains(information.generation) || $0.former.contains(information.generation)
        }
    }
}
