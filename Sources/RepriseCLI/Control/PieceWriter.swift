import Dispatch
import Primitives

/// Hands pieces from a thread that may wait to those who take them, one at a time.
final class PieceWriter: Sendable {
    private struct State {
        var writing: Task<Void, Never>?
        var error: (any Error)?
        var isCanceled = false
    }

    private let state = Mutex(State())
    private let body: @Sendable ([UInt8]) async throws -> Void
    private let failed: @Sendable () -> Void

    /// `failed` is called once a piece could not be taken.
    init(_ body: @escaping @Sendable ([UInt8]) async throws -> Void, failed: @escaping @Sendable () -> Void) {
        (self.body, self.failed) = (body, failed)
    }

    /// Why a piece could not be taken.
    var error: (any Error)? { state.withLock { $0.error } }

    /// Returns once `bytes` have been taken; drops them after an error, or once it is canceled.
    ///
    /// Not for a thread of the cooperative pool.
    func write(_ bytes: [UInt8]) {
        let done = DispatchSemaphore(value: 0)
        let isBegun = state.withLock { state in
            guard state.error == nil, !state.isCanceled else { return false }
            state.writing = Task { [self] in
                do { try await body(bytes) } catch { fail(error) }
                done.signal()
            }
            return true
        }
        if isBegun { done.wait() }
    }

    private func fail(_ error: any Error) {
        let isFirst = state.withLock { state in
            defer { state.error = state.error ?? error }
            return state.error == nil
        }
        if isFirst { failed() }
    }

    /// Ends the wait for a piece that is not taken.
    func cancel() {
        let writing = state.withLock { state in
            state.isCanceled = true
            return state.writing
        }
        writing?.cancel()
    }
}
