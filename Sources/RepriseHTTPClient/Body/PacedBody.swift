import Primitives
import Reprise

/// A body that is pulled no faster than the rate of its host allows, together with the host's other bodies.
///
/// What is not pulled stays in the origin's socket. When it is canceled, what has arrived is returned without waiting.
final class PacedBody: OriginBody {
    private struct State {
        var isOver = false
        /// The wait for the next pull.
        var timer: Task<Void, Never>?
    }

    private let body: any OriginBody
    private let pace: HostPace
    private let state = Mutex(State())

    init(_ body: any OriginBody, pace: HostPace) {
        (self.body, self.pace) = (body, pace)
    }

    func next() async throws -> (any ByteChunk)? {
        let claim = pace.claim()
        var count = 0
        defer { pace.settle(claim, bytes: count) }
        while !Task.isCancelled {
            let delay = pace.delay(of: claim)
            guard delay > .zero, await wait(delay) else { break }
        }
        let piece = try await body.next()
        count = piece?.count ?? 0
        return piece
    }

    func cancel() {
        let timer = state.withLock { state in
            state.isOver = true
            return state.timer
        }
        timer?.cancel()
        body.cancel()
    }

    /// Waits for `time`, less if the task or the body is canceled; false if the body was.
    private func wait(_ time: Duration) async -> Bool {
        let timer = Task { [clock = pace.clock] in _ = try? await clock.sleep(time) }
        let isOver = state.withLock { state in
            state.timer = timer
            return state.isOver
        }
        if isOver { timer.cancel() }
        await withTaskCancellationHandler {
            await timer.value
        } onCancel: {
            timer.cancel()
        }
        return state.withLock { state in
            state.timer = nil
            return !state.isOver
        }
    }
}
