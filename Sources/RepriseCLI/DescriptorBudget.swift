import Foundation
import Primitives
import RepriseHTTPClient
import RepriseProxy

/// How the file descriptors that the system allows are shared out.
///
/// Each client may need two, its own and one for an origin. Media files take another share. All shares together leave
/// ``reserve``, so that no part of the server reaches the limit: Dispatch ends the process if it cannot open a file of
/// `/proc`, and SQLite fails.
struct DescriptorBudget: Equatable {
    /// Most descriptors of this process.
    let total: Int

    /// Standard streams, the index, the lock, event loops, the listener, the control socket, logs.
    private static let fixed = 48
    /// Descriptors that only SQLite and the runtime take.
    static let reserve = 32
    /// Connections that no server needs more of.
    static let mostConnections = 10_000
    /// With fewer descriptors than this a warning is due.
    static let few = 1024

    /// What the cache takes for its files unless it is told otherwise (`MediaCache.Configuration.openFiles`).
    var openFiles: Int { max(16, min(512, total / 4)) }

    /// What clients and origins share.
    private var shared: Int { total - Self.reserve - Self.fixed - openFiles }

    /// Client connections that may be open at once; a quarter as many more are told that there are too many.
    var connections: Int { max(4, min(Self.mostConnections, shared * 2 / 5)) }

    /// Descriptors of connections to origins, for a server with that many connections of clients.
    ///
    /// More than clients can need, because an attempt to connect takes two.
    func originConnections(beside clients: Int) -> Int {
        max(8, min(2 * Self.mostConnections, shared - clients - ProxyConfiguration.surplus(of: clients)))
    }

    /// Connections to origins that may be idle, for such a server.
    func idleOriginConnections(beside clients: Int) -> Int {
        ConnectionBudget.idleShare(of: total, within: originConnections(beside: clients))
    }

    /// The budget of connections to origins, for such a server.
    func origins(beside clients: Int) -> ConnectionBudget {
        ConnectionBudget(
            limit: originConnections(beside: clients), idleLimit: idleOriginConnections(beside: clients))
    }

    /// Raises the limit of this process to what the system allows it.
    static func raised() -> DescriptorBudget {
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return DescriptorBudget(total: few) }
        if limit.rlim_cur < limit.rlim_max {
            var raised = limit
            raised.rlim_cur = min(limit.rlim_max, mostUseful)
            if setrlimit(resource, &raised) == 0 { limit = raised }
        }
        return DescriptorBudget(total: Int(clamping: limit.rlim_cur))
    }

    /// Some systems give no number but infinity, and refuse to take it.
    private static let mostUseful: rlim_t = 65_536

    #if canImport(Darwin)
        private static let resource = RLIMIT_NOFILE
    #else
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #endif
}
