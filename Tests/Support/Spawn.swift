import CSpawn
import Foundation

#if canImport(Glibc)
    import Glibc
#endif

// Apple's other systems start no programs.
#if os(macOS) || os(Linux)
    /// Starts programs that inherit only what they are given.
    ///
    /// Does not use Foundation's `Process`: in Swift 6.3 on Linux each start reads past the end of a directory entry,
    /// and one in some hundreds crashes because of it (swift-corelibs-foundation #5472).
    public enum Spawn {
        /// Runs the program at `executable` to its end, without its output; returns its exit status.
        ///
        /// Throws `POSIXError` when it cannot be started. A program ended by a signal has status 128 plus the signal's
        /// number.
        public static func run(_ executable: String, _ arguments: [String]) throws -> Int32 {
            let identifier = try start(executable, arguments, output: nil, errors: nil)
            let status = wait(for: identifier)
            return status.isSignal ? 128 + status.number : status.number
        }

        /// Starts a program; its output goes to the given descriptors, or nowhere.
        ///
        /// `passing` becomes its descriptor 3.
        static func start(
            _ executable: String, _ arguments: [String], environment: [String: String]? = nil, output: Int32?,
            errors: Int32?, passing: Int32? = nil
        ) throws -> pid_t {
            #if os(macOS)
                var actions: posix_spawn_file_actions_t?
                var attributes: posix_spawnattr_t?
                let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_CLOEXEC_DEFAULT
            #else
                var actions = posix_spawn_file_actions_t()
                var attributes = posix_spawnattr_t()
                let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
            #endif
            try check(posix_spawn_file_actions_init(&actions))
            defer { posix_spawn_file_actions_destroy(&actions) }
            try check(posix_spawnattr_init(&attributes))
            defer { posix_spawnattr_destroy(&attributes) }

            try check(posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0))
            for (descriptor, target) in [(output, Int32(1)), (errors, 2)] {
                if let descriptor {
                    try check(posix_spawn_file_actions_adddup2(&actions, descriptor, target))
                } else {
                    try check(posix_spawn_file_actions_addopen(&actions, target, "/dev/null", O_WRONLY, 0))
                }
            }
            if let passing { try check(posix_spawn_file_actions_adddup2(&actions, passing, 3)) }
            try check(reprise_spawn_close_from(&actions, passing == nil ? 3 : 4))

            // The program would inherit a thread's mask, and signals that this process ignores.
            var none = sigset_t()
            var all = sigset_t()
            sigemptyset(&none)
            sigfillset(&all)
            try check(posix_spawnattr_setsigmask(&attributes, &none))
            try check(posix_spawnattr_setsigdefault(&attributes, &all))
            try check(posix_spawnattr_setflags(&attributes, Int16(flags)))

            var environment = environment ?? ProcessInfo.processInfo.environment
            // A program that crashes ends at once. Swift's backtracer would outlive it when a test kills the program,
            // and would keep its output open.
            environment["SWIFT_BACKTRACE"] = environment["SWIFT_BACKTRACE"] ?? "enable=no"
            let words = ([executable] + arguments).map { strdup($0) }
            let variables = environment.map { strdup("\($0.key)=\($0.value)") }
            defer { for string in words + variables { free(string) } }
            var identifier = pid_t()
            try check(posix_spawn(&identifier, executable, &actions, &attributes, words + [nil], variables + [nil]))
            return identifier
        }

        /// Waits for the end of a program, which stays in the process table until ``wait(for:)``, so that its number is
        /// not reused before.
        static func waitWithoutReaping(_ identifier: pid_t) {
            var information = siginfo_t()
            while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        }

        /// Waits for the end of a program and removes it from the process table; returns its exit status, or the signal
        /// that ended it.
        static func wait(for identifier: pid_t) -> (number: Int32, isSignal: Bool) {
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
            // The layout shared by all these systems; Swift does not import their macros.
            let signal = status & 0x7f
            return signal == 0 ? (status >> 8 & 0xff, false) : (signal, true)
        }

        private static func check(_ code: Int32) throws {
            guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EINVAL) }
        }
    }
#endif
