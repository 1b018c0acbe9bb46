import Dispatch
import Foundation
import Primitives

/// The output of a program on a pipe, kept from its first byte.
public final class Transcript: Sendable {
    private struct State {
        var bytes: [UInt8] = []
        var isComplete = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Reads `pipe` to its end on a separate thread.
    init(_ pipe: FileHandle) {
        Thread.detachNewThread { [self] in
            while true {
                // Blocks until there is data; no data means that the other end is closed.
                let data = pipe.availableData
                let waiters = state.withLock { state in
                    state.bytes += data
                    state.isComplete = data.isEmpty
                    defer { state.waiters = [] }
                    return state.waiters
                }
                for waiter in waiters { waiter.resume() }
                if data.isEmpty { return }
            }
        }
    }

    /// The output so far.
    public var text: String { state.withLock { String(decoding: $0.bytes, as: UTF8.self) } }

    /// Waits until `condition` is true of the output, or until the pipe is closed; returns the output.
    @discardableResult
    public func wait(until condition: (String) -> Bool) async -> String {
        while true {
            let (bytes, isComplete) = state.withLock { ($0.bytes, $0.isComplete) }
            let text = String(decoding: bytes, as: UTF8.self)
            if isComplete || condition(text) { return text }
            await change(past: bytes.count)
        }
    }

    /// Waits until the pipe is closed; returns the output.
    public func complete() async -> String {
        while true {
            let (count, isComplete) = state.withLock { ($0.bytes.count, $0.isComplete) }
            if isComplete { return text }
            await change(past: count)
        }
    }

    /// Waits until there are more than `count` bytes, or the pipe is closed.
    private func change(past count: Int) async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                guard state.bytes.count == count, !state.isComplete else { return true }
                state.waiters.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}
