import NIOCore
import Primitives
import Reprise

/// Hands the events of a cache to those who listen, each with a queue of its own, and remembers the last ones.
///
/// Its lock is a leaf.
final class EventFeed: Sendable {
    private struct State {
        var listeners: [UInt64: AsyncStream<ByteBuffer>.Continuation] = [:]
        var next: UInt64 = 0
        var recent: [EventReport] = []
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Most listeners at the same time.
    static let mostListeners = 32
    /// Most events that wait for one listener.
    static let longestQueue = 256
    /// Events that are remembered.
    private static let remembered = 50

    /// The events of one listener.
    struct Subscription: Sendable {
        /// Events as they are sent; ends when the feed is closed, and when too many wait.
        let events: AsyncStream<ByteBuffer>
        fileprivate let id: UInt64
    }

    /// Events from now on; `nil` if there are too many listeners, or the server is stopping.
    func subscribe() -> Subscription? {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ByteBuffer.self, bufferingPolicy: .bufferingOldest(Self.longestQueue))
        let id = state.withLock { state -> UInt64? in
            guard !state.isClosed, state.listeners.count < Self.mostListeners else { return nil }
            state.next += 1
            state.listeners[state.next] = continuation
            return state.next
        }
        return id.map { Subscription(events: stream, id: $0) }
    }

    /// Ends a subscription; returns whether it had ended before, because its listener was too slow.
    func unsubscribe(_ subscription: Subscription) -> Bool {
        let listener = state.withLock { state in
            (continuation: state.listeners.removeValue(forKey: subscription.id), isClosed: state.isClosed)
        }
        listener.continuation?.finish()
        return listener.continuation == nil && !listener.isClosed
    }

    /// Number of listeners.
    var listeners: Int { state.withLock { $0.listeners.count } }

    /// The last events that are remembered, the newest last.
    var recent: [EventReport] { state.withLock { $0.recent } }

    /// Passes `event`, which happened at `time`, to all listeners; one that is too slow is cut.
    func pass(_ event: CacheEvent, at time: Double) throws {
        let report = EventReport(event, at: time)
        let listeners = state.withLock { state in
            if report.isRemembered {
                if state.recent.count == Self.remembered { state.recent.removeFirst() }
                state.recent.append(report)
            }
            return state.listeners
        }
        guard !listeners.isEmpty else { return }
        let text = try Self.text(report.event, report)
        for (id, listener) in listeners {
            guard case .dropped = listener.yield(text) else { continue }
            state.withLock { _ = $0.listeners.removeValue(forKey: id) }
            listener.finish()
        }
    }

    /// Passes all `events`, until they end.
    func pass(_ events: AsyncStream<CacheEvent>, clock: CacheClock) async {
        for await event in events {
            // An event without numbers that JSON lacks always has a text.
            do { try pass(event, at: clock.now()) } catch { continue }
        }
    }

    /// Ends all subscriptions.
    func close() {
        let listeners = state.withLock { state in
            state.isClosed = true
            defer { state.listeners = [:] }
            return state.listeners
        }
        for listener in listeners.values { listener.finish() }
    }

    /// An event of that `name` (HTML, server-sent events §9.2.5); JSON has no line ends.
    static func text(_ name: String, _ value: some Encodable) throws -> ByteBuffer {
        var buffer = ByteBuffer(string: "event: \(name)\ndata: ")
        buffer.writeBytes(try JSONText.line(value))
        buffer.writeStaticString("\n\n")
        return buffer
    }
}
