import Foundation
internal import NIOCore
internal import Primitives

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
