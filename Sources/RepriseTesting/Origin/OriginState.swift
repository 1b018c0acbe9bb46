import Foundation
import NIOCore
import Primitives

/// The state shared by the origin's threads and the tests.
///
/// The locks of the ledger and of the channels are never held together, nor while foreign code runs.
final class OriginState: Sendable {
    let changes = ChangeSignal()
    private let ledger = Mutex(Ledger())
    private let channels = Mutex<[Int: any Channel]>([:])
    /// Seconds since 1970, for the Date of responses.
    let wallClock: @Sendable () -> Date

    init(wallClock: @escaping @Sendable () -> Date) { self.wallClock = wallClock }

    /// Reads the ledger.
    func read<Value: Sendable>(_ body: (Ledger) -> Value) -> Value {
        ledger.withLock { body($0) }
    }

    /// Changes the ledger and wakes the tasks that wait for a change.
    func update<Value: Sendable>(_ body: (inout Ledger) -> Value) -> Value {
        defer { changes.notify() }
        return ledger.withLock { body(&$0) }
    }

    /// Makes a change that no counter shows, without waking waiters.
    func arrange<Value: Sendable>(_ body: (inout Ledger) -> Value) -> Value {
        ledger.withLock { body(&$0) }
    }

    /// Counts an accepted connection until it closes, and returns its number.
    func opened(_ channel: any Channel) -> Int {
        let connection = update { $0.connectionOpened() }
        channels.withLock { $0[connection] = channel }
        channel.closeFuture.whenComplete { [self] _ in
            channels.withLock { $0[connection] = nil }
            update { $0.connectionClosed() }
        }
        return connection
    }

    var openChannels: [any Channel] { channels.withLock { Array($0.values) } }
}

/// Wakes tasks that wait for a change: a version number, and the tasks that wait for a later one.
///
/// A waiter reads the version, then checks its condition, then waits past that version. A change between checking and
/// waiting raises the version, so the wait ends at once and no change is missed:
///
///     waiter   version = 4    looks    wait(past: 4) ── returns, the version is 5
///     changer                       notify → 5
final class ChangeSignal: Sendable {
    private struct State {
        var version: UInt64 = 0
        var nextID: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    var version: UInt64 { state.withLock { $0.version } }

    /// Signals a change; call it after the change is visible, outside the lock that guards it.
    func notify() {
        let waiters = state.withLock { state in
            state.version += 1
            guard !state.waiters.isEmpty else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiters.removeAll() }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns once the version is above `version`, or when the task is canceled.
    func wait(past version: UInt64) async {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // A later cancellation finds the waiter in the table; an earlier one is detected here.
                    guard state.version <= version, !Task.isCancelled else { return true }
                    state.waiters[id] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
        }
    }
}
