import Primitives
import Reprise

/// Fetches bytes that the player has not requested, if an item's options or its origin call for it.
///
/// Errors are not reported here: the player's own request for the bytes will fail too, and the cache reports them as
/// events.
final class ReadAheadRunner: Sendable {
    private struct Fetch: Sendable {
        let isWhole: Bool
        let run: @Sendable (MediaResource) async throws -> Void
    }

    private struct State {
        /// Counts the fetches, so that one that has been replaced changes nothing.
        var number = 0
        var task: Task<Void, Never>?
        var isWhole = false
        /// The current fetch, if it has failed; the next one replaces it.
        var failed: Fetch?

        /// Begins `fetch`, or nothing; returns its number, and the task to cancel.
        mutating func begin(_ fetch: Fetch?) -> (number: Int, previous: Task<Void, Never>?) {
            defer { (task, isWhole, failed) = (nil, fetch?.isWhole ?? false, nil) }
            number += 1
            return (number, task)
        }
    }

    /// Errors that pass with time, or with another network policy.
    private static let passing: Set<RepriseError.Code> = [
        .networkUnavailable, .notStored, .originBodyTruncated, .originNotFound, .originTimedOut, .originUnreachable,
    ]

    private let source: AssetSource
    private let state = Mutex(State())

    init(_ source: AssetSource) { self.source = source }

    /// Notes that the player wants no more for now, and has everything before `position`.
    func player(leftAt position: Int64, completeLength: Int64?) {
        guard let completeLength, !state.withLock({ $0.isWhole }) else { return }
        if source.mustBeFetchedWhole { return fetchWhole() }
        switch source.options.readAhead {
        case .asRequested: return
        case .ahead(let bytes):
            let end = position + min(max(bytes, 0), max(completeLength - position, 0))
            if position < end { run(Fetch(isWhole: false) { try await $0.preload(.range(position..<end)) }) }
        case .toEnd:
            run(
                Fetch(isWhole: true) { resource in
                    if position < completeLength { try await resource.preload(.range(position..<completeLength)) }
                    try await resource.preload(.all)
                })
        }
    }

    /// Fetches the file from its beginning to its end.
    func fetchWhole() { run(Fetch(isWhole: true) { try await $0.preload(.all) }) }

    /// Fetches again what has failed under the old network policy.
    func networkPolicyChanged() {
        if let failed = state.withLock({ $0.failed }) { run(failed) }
    }

    func cancel() { state.withLock { $0.begin(nil) }.previous?.cancel() }

    private func run(_ fetch: Fetch) {
        let (number, previous) = state.withLock { $0.begin(fetch) }
        previous?.cancel()
        let task = Task(priority: .userInitiated) { [weak self, source] in
            let policy = source.networkPolicy
            do { try await fetch.run(source.resource()) } catch {
                // What finds no room, or is refused, would be fetched in vain again and again.
                let code = (error as? RepriseError)?.code
                if code.map(Self.passing.contains) == true { self?.failed(fetch, number, under: policy) }
            }
        }
        let isCurrent = state.withLock { state in
            if state.number == number { state.task = task }
            return state.number == number
        }
        if !isCurrent { task.cancel() }
    }

    /// Notes that a fetch has failed: where the player leaves next, another one begins.
    private func failed(_ fetch: Fetch, _ number: Int, under policy: NetworkPolicy) {
        let isCurrent = state.withLock { state in
            guard state.number == number else { return false }
            (state.isWhole, state.failed) = (false, fetch)
            return true
        }
        if isCurrent, source.networkPolicy != policy { networkPolicyChanged() }
    }
}

extension AssetSource {
    /// Begins to fetch `amount` in the background.
    func preload(_ amount: PreloadAmount) -> PreloadTask {
        PreloadTask(Task(priority: .userInitiated) { [self] in try await resource().preload(amount) })
    }
}
