#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A value behind a POSIX mutex, used like `Synchronization.Mutex`.
///
/// On Linux the thread sanitizer cannot see the standard library's mutex wait, so that every contended lock looks like
/// a race; it does see POSIX mutexes.
///
/// `Value` must not be a function or an optional function. Each access would wrap it in another function, until a call
/// overflows the stack. Wrap the function in a struct instead.
package final class Mutex<Value>: @unchecked Sendable {
    // `value` is accessed only while `lock` is held, which makes the class safe to share.
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var value: Value

    package init(_ value: sending Value) {
        self.value = value
        lock.initialize(to: pthread_mutex_t())
        let result = pthread_mutex_init(lock, nil)
        precondition(result == 0, "pthread_mutex_init failed with \(result)")
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deinitialize(count: 1)
        lock.deallocate()
    }

    /// Calls `body` with exclusive access to the value.
    ///
    /// Not reentrant.
    package func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return try body(&value)
    }
}
