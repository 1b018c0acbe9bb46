#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The three descriptors that every program counts on.
enum StandardStreams {
    /// Puts `/dev/null` in the place of those that this process was started without.
    ///
    /// The next file that is opened would get the number otherwise, such as the index, and what is printed would be
    /// written into it. Opened the other way round, so that writing to a closed standard output stays an error.
    static func fill() {
        for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number: those below it are open by now.
            _ = open("/dev/null", mode)
        }
    }
}
