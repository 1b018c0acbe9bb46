import Primitives

/// Sees what each client waits for, and finds requests that hang.
///
/// A request hangs if its client reads and has received nothing for ``patience`` seconds, and the origin had no
/// fault in that time.
final class Watchdog: Sendable {
    /// A request without progress.
    struct Hang: Equatable {
        let client: String
        let request: String
        /// Bytes of the answer received before.
        let bytes: Int64
        /// How long the client has been waiting, in seconds.
        let seconds: Double
    }

    /// What one client does; it waits for one connection at a time.
    final class Vigil: Sendable {
        private struct State {
            var request = ""
            var lastTrouble: @Sendable () -> Double = { -.infinity }
            var bytes: Int64 = 0
            /// Since when the client waits for a byte; `nil` while it does not read.
            var since: Double?
            var isReported = false
        }

        private let client: String
        private let state = Mutex(State())

        fileprivate init(client: String) { self.client = client }

        /// The client reads the answer to another request; `lastTrouble` is when its origin was last at fault, infinite
        /// while it is, or if no answer is due.
        func begins(_ request: String, lastTrouble: @escaping @Sendable () -> Double) {
            state.withLock { $0 = State(request: request, lastTrouble: lastTrouble) }
        }

        /// The client begins to wait for the next bytes.
        func waits(at time: Double) { state.withLock { $0.since = time } }

        /// The wait is over.
        func received(_ count: Int) {
            state.withLock { state in
                state.since = nil
                state.bytes += Int64(count)
            }
        }

        /// The hang of the present request, once.
        fileprivate func hang(at time: Double, patience: Double) -> Hang? {
            state.withLock { [client] state in
                guard let since = state.since, !state.isReported, time - since > patience,
                    time - state.lastTrouble() > patience
                else { return nil }
                state.isReported = true
                return Hang(client: client, request: state.request, bytes: state.bytes, seconds: time - since)
            }
        }
    }

    /// Seconds without a byte after which a request hangs.
    let patience: Double
    private let vigils = Mutex<[Vigil]>([])

    init(patience: Double) { self.patience = patience }

    /// Watches another client.
    func vigil(over client: String) -> Vigil {
        let vigil = Vigil(client: client)
        vigils.withLock { $0.append(vigil) }
        return vigil
    }

    /// The requests that hang and were not reported before.
    func hangs(at time: Double) -> [Hang] {
        vigils.withLock { $0 }.compactMap { $0.hang(at: time, patience: patience) }
    }
}
