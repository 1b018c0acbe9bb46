import Foundation

/// How the file descriptors that the system allows are shared out.
///
/// Each client may need two, its own and one for an origin. Media files take another share.
struct DescriptorBudget: Equatable {
    /// Most descriptors of this process.
    let total: Int

    /// Standard streams, the index, the lock, event loops, the listener.
    private static let reserve = 48
    /// Connections that no server needs more of.
    static let mostConnections = 10_000
    /// With fewer descriptors than this a warning is due.
    static let few = 1024

    /// What the cache takes for its files unless it is told otherwise (`MediaCache.Configuration.openFiles`).
    private var openFiles: Int { max(16, min(512, total / 4)) }

    /// Client connections that may be open at once; a quarter as many more are told that there are too many.
    var connections: Int { max(4, min(Self.mostConnections, (total - Self.reserve - openFiles) * 2 / 5)) }

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
