import Primitives

/// Admits one slow playlist of each host at a time, so that the playlists of one host don't delay those of others.
final class HostTurns: Sendable {
    private struct Entry {
        let turn = Turn()
        var users = 0
    }

    /// The hosts with playlists that are read or wait.
    private let hosts = Mutex<[String: Entry]>([:])

    /// Runs `body` when no other playlist of `host` is being read.
    ///
    /// Rethrows, and throws `CancellationError` when the task is canceled during the wait.
    func run<Result: Sendable>(
        at host: String, _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        let turn = hosts.withLock { hosts in
            var entry = hosts[host] ?? Entry()
            entry.users += 1
            hosts[host] = entry
            return entry.turn
        }
        defer {
            hosts.withLock { hosts in
                hosts[host]?.users -= 1
                if hosts[host]?.users == 0 { hosts[host] = nil }
            }
        }
        try await turn.take()
        defer { turn.leave() }
        return try await body()
    }

    /// Number of hosts with playlists that are read or wait.
    var count: Int { hosts.withLock { $0.count } }
}
