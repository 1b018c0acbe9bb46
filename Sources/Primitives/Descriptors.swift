#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The file descriptors of this process, which all its parts share.
package final class Descriptors: Sendable {
    /// Those of this process.
    package static let process = Descriptors()

    private struct State {
        var lastHolder: UInt64 = 0
        var holders: [UInt64: @Sendable () -> Void] = [:]
    }

    /// A leaf.
    private let state = Mutex(State())

    /// Creates a table without holders.
    package init() {}

    /// Most descriptors that this process may have open; `nil` if the system does not say.
    package static var limit: Int? {
        var limit = rlimit()
        #if canImport(Darwin) || canImport(Musl)
            let result = getrlimit(RLIMIT_NOFILE, &limit)
        #else
            let result = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #endif
        return result == 0 ? Int(clamping: limit.rlim_cur) : nil
    }

    /// Whether `code` is the errno of a call that found no free descriptor.
    package static func areMissing(_ code: CInt) -> Bool { code == EMFILE || code == ENFILE }

    /// Adds a holder of descriptors that nothing needs at the moment; ``release()`` calls `release`, on any thread.
    ///
    /// Returns the number that ``remove(_:)`` takes.
    package func add(_ release: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            state.lastHolder += 1
            state.holders[state.lastHolder] = release
            return state.lastHolder
        }
    }

    /// Removes a holder.
    package func remove(_ holder: UInt64) { state.withLock { _ = $0.holders.removeValue(forKey: holder) } }

    /// Has all holders close what nothing needs, because a call found no free descriptor.
    ///
    /// They may do so a moment later.
    package func release() {
        for release in state.withLock({ Array($0.holders.values) }) { release() }
    }
}
