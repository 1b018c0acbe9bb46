import Primitives
import Reprise

/// Fetches bytes that the player has not requested, if an item's options or its origin call for it.
///
/// Errors are not reported here: the player's own request for the bytes will fail too, and the cache reports them as
/// events.
final class ReadAheadRunner: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var isWhole = false
    }

    private let source: AssetSource
    private let state = Mutex(State())

    init(_ source: AssetSource) { self.source = source }

    /// Notes that the player wants no more for now, and has everything before `position`.
    func player(leftAt position: Int64, completeLength: Int64?) {
        guard let completeLength, !state.withLock({ $0.isWhole }) else { return }
        switch source.options.readAhead {
        case .asRequested: return
        case .ahead(let bytes):
            let end = position + min(max(bytes, 0), max(completeLength - position, 0))
            if position < end { run(isWhole: false) { try await $0.preload(.range(position..<end)) } }
        case .toEnd:
            run(isWhole: true) { resource in
                if position < completeLength { try await resource.preload(.range(position..<completeLength)) }
                try await resource.preload(.all)
            }
        }
    }

    /// Fetches the file from its beginning to its end.
    func fetchWhole() { run(isWhole: true) { try await $0.preload(.all) } }

    func cancel() {
        let task = state.withLock { state in
            defer { state = State() }
            return state.task
        }
        task?.cancel()
    }

    private func run(isWhole: Bool, _ fetch: @escaping @Sendable (MediaResource) async throws -> Void) {
        let task = Task(executorPreference: DiskExecutor.shared) { [source] in
            do { try await fetch(source.resource()) } catch { return }
        }
        let previous = state.withLock { state in
            defer { state = State(task: task, isWhole: isWhole) }
            return state.task
        }
        previous?.cancel()
    }
}

extension AssetSource {
    /// Begins to fetch `amount` in the background.
    func preload(_ amount: PreloadAmount) -> PreloadTask {
        PreloadTask(Task(executorPreference: DiskExecutor.shared) { [self] in try await resource().preload(amount) })
    }
}
