import ArgumentParser
import Foundation
import Primitives

/// A program that this process started and waits for.
///
/// It has the terminal as this process has it, so that its keys work, and the signals of a new process; or it is alone
/// with what it starts, in a process group that ends with it.
final class RunningProgram: Sendable {
    /// What a program has in place of what this process has.
    struct Surroundings {
        /// Its environment.
        let environment: [String: String]
        /// The descriptor that is its standard input; it reads nothing if that is `nil`.
        var input: Int32?
        /// The descriptor that is its standard output.
        let output: Int32
    }

    private let identifier: pid_t
    /// Whether it has a process group of its own.
    private let hasGroup: Bool
    /// Whether it has ended; the system may give its identifier to another process after that.
    private let hasEnded = Mutex(false)

    /// Starts the program at `path`; what it says on standard error goes to the file at `errors`, if there is one.
    ///
    /// It has the variables of this process, and `variables` in place of those of the same names; with `surroundings`
    /// those that they name, and a process group of its own. Throws a reason with code
    /// 126 if the system cannot start it.
    init(
        _ path: String, arguments: [String], variables: [String: String] = [:], errors: String? = nil,
        surroundings: Surroundings? = nil
    ) throws {
        #if canImport(Darwin)
            var attributes: posix_spawnattr_t?
            var actions: posix_spawn_file_actions_t?
        #else
            var attributes = posix_spawnattr_t()
            var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let errors {
            posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        }
        if let surroundings {
            if let input = surroundings.input {
                posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
            } else {
                posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
            }
            posix_spawn_file_actions_adddup2(&actions, surroundings.output, STDOUT_FILENO)
        }
        hasGroup = surroundings != nil
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        let group = hasGroup ? Int16(POSIX_SPAWN_SETPGROUP) : 0
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF) | group)
        let words = ([path] + arguments).map { strdup($0) } + [nil]
        let environment =
            surroundings?.environment ?? ProcessInfo.processInfo.environment.merging(variables) { $1 }
        let settings = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for word in words + settings { free(word) } }
        var identifier = pid_t()
        let result = posix_spawn(&identifier, path, &actions, &attributes, words, settings)
        guard result == 0 else {
            throw Failure.Reason(
                code: ExitCode(126), name: "programFailed",
                message: "\(path) cannot be started: \(String(cString: strerror(result))).")
        }
        self.identifier = identifier
    }

    /// Returns when it has ended: its exit code, or 128 and the number of the signal that ended it.
    ///
    /// If the task is canceled, the program gets the signal `end`; by default it is asked to end.
    func wait(ending end: Int32 = SIGTERM) async -> Int32 {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: self.waitForEnd()) }
            }
        } onCancel: {
            send(end)
        }
    }

    /// Sends it a signal, unless it has ended.
    func send(_ number: Int32) {
        hasEnded.withLock { hasEnded in
            if !hasEnded { _ = sendSignal(identifier, number) }
        }
    }

    /// Kills it with all that it has started in its group, unless it has ended.
    func kill() {
        hasEnded.withLock { hasEnded in
            if !hasEnded { killAll() }
        }
    }

    private func killAll() { _ = sendSignal(hasGroup ? -identifier : identifier, SIGKILL) }

    /// Returns as ``wait(ending:)`` does; what it has left in its group ends with it.
    func waitForEnd() -> Int32 {
        // First without taking its identifier away, so that no signal can go to another process.
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return hasEnded.withLock { hasEnded in
            // Before its identifier, which is that of the group, can be another one's.
            if hasGroup { killAll() }
            hasEnded = true
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
            let signal = status & 0x7F
            return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
        }
    }
}

/// `kill` of the system, which a method of that name hides.
private func sendSignal(_ identifier: pid_t, _ number: Int32) -> Int32 { kill(identifier, number) }
