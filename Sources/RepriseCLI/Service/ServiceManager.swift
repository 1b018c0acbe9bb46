import Foundation
import Logging
import Reprise
import RepriseProxy

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The service manager that started this server, such as systemd, if one did.
struct ServiceManager: Sendable {
    private let socket: NotifySocket?
    private let watchdog: Watchdog?
    private let logger: Logger

    init(_ environment: [String: String], logger: Logger) {
        socket = NotifySocket(environment["NOTIFY_SOCKET"])
        watchdog = socket == nil ? nil : Watchdog(environment, process: getpid())
        self.logger = logger
        if socket == nil, let name = environment["NOTIFY_SOCKET"] {
            logger.warning(
                "no notes to the service manager: NOTIFY_SOCKET is no address", metadata: ["name": "\(name)"])
        }
    }

    /// Says that `server` serves, and goes on to say that it is not hung until the task is canceled.
    func watch(_ server: ProxyServer, of cache: MediaCache) -> Task<Void, Never> {
        socket?.post(.ready(Self.status(server))) { [logger] isTaken in
            if !isTaken { logger.warning("the service manager does not take notes (NOTIFY_SOCKET)") }
        }
        return Task { [socket, watchdog] in
            guard let socket, let watchdog else { return }
            let turn: @Sendable () async -> Void = {
                await server.turn()
                await cache.turn()
            }
            await watchdog.run(clock: .system, turn: turn) { socket.post(.watchdog) }
        }
    }

    /// Calls `reload`, between notes that say so.
    func reloading(_ server: ProxyServer, _ reload: () -> Void) {
        socket?.post(.reloading(at: Self.now))
        reload()
        socket?.post(.ready(Self.status(server)))
    }

    /// Says that the server ends, and how long that may take.
    func stopping(atMost time: Duration) { socket?.post(.stopping(atMost: time)) }

    /// Without the address, which the token is a part of.
    private static func status(_ server: ProxyServer) -> String { "Serving on port \(server.port)." }

    /// The monotonic clock, in microseconds.
    private static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
    }
}
