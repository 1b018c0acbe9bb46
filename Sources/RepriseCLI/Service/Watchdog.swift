import Foundation
import Reprise

/// Tells the service manager again and again that the server is not hung (`WATCHDOG_USEC`, sd_watchdog_enabled(3)).
///
/// A note is due every half of the time after which the manager counts the server as hung. It is sent only once
/// everything that must turn has answered, so that one hung event loop or a hung index is noticed.
struct Watchdog: Sendable {
    /// Time between two notes.
    let interval: Duration

    /// What the manager wants of `process`; `nil` if it wants nothing.
    init?(_ environment: [String: String], process: Int32) {
        guard let time = environment["WATCHDOG_USEC"].flatMap(Int64.init), (1...Self.longest).contains(time) else {
            return nil
        }
        if let wanted = environment["WATCHDOG_PID"], wanted != "\(process)" { return nil }
        interval = .microseconds(max(1, time / 2))
    }

    /// A year, in microseconds.
    private static let longest: Int64 = 365 * 86_400 * 1_000_000

    /// Sends notes until the task is canceled; `turn` returns when everything that must turn has answered.
    func run(
        clock: CacheClock, turn: @Sendable () async -> Void, send: @Sendable () -> Void
    ) async {
        while !Task.isCancelled {
            await turn()
            send()
            do { try await clock.sleep(interval) } catch { return }
        }
    }
}
