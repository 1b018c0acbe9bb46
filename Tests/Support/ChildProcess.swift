import Dispatch
import Foundation
import Primitives
import TestLimits

// Apple's other systems start no programs.
#if os(macOS) || os(Linux)
    /// Another program under a time limit, with its output.
    ///
    /// A program that still runs when its time is up is killed, so that every wait here ends. Blocking reads run on
    /// their own threads.
    public final class ChildProcess: Sendable {
        /// How a program ended.
        public enum Exit: Sendable, Hashable {
            /// It exited with this status.
            case status(Int32)
            /// This signal ended it.
            case signal(Int32)
            /// It was killed because its time was up.
            case overTime
        }

        /// The result of a program.
        public struct Outcome: Sendable, CustomStringConvertible {
            /// How it ended.
            public let exit: Exit
            /// What it wrote to standard output.
            public let output: String
            /// What it wrote to standard error.
            public let errors: String

            /// One line for failure messages, with the end of standard error.
            public var description: String { "\(exit); \(errors.suffix(2000))" }
        }

        private struct State {
            var exit: Exit?
            var isOverTime = false
            var waiters: [CheckedContinuation<Exit, Never>] = []
        }

        /// The program's standard output.
        public let output: Transcript
        /// The program's standard error.
        public let errors: Transcript
        /// The program's process number.
        public let identifier: Int32
        private let state = Mutex(State())

        /// Starts the program at `executable`.
        ///
        /// - Parameters:
        ///   - executable: The program's absolute path.
        ///   - arguments: Its arguments, without its name.
        ///   - environment: Its whole environment; this process's if `nil`.
        ///   - passing: What becomes its descriptor 3, if anything.
        ///   - limit: How long it may run.
        /// - Throws: `POSIXError` when the program cannot be started.
        public init(
            _ executable: String, _ arguments: [String], environment: [String: String]? = nil,
            passing: Int32? = nil, limit: Duration = .seconds(300)
        ) throws {
            let (outputPipe, errorPipe) = (Pipe(), Pipe())
            // This process's ends: the readers reach the end only when the program has closed its own.
            defer {
                try? outputPipe.fileHandleForWriting.close()
                try? errorPipe.fileHandleForWriting.close()
            }
            output = Transcript(outputPipe.fileHandleForReading)
            errors = Transcript(errorPipe.fileHandleForReading)
            identifier = try Spawn.start(
                executable, arguments, environment: environment,
                output: outputPipe.fileHandleForWriting.fileDescriptor,
                errors: errorPipe.fileHandleForWriting.fileDescriptor, passing: passing)
            Thread.detachNewThread { [self] in waitForEnd() }
            DispatchQueue.global().asyncAfter(deadline: .now() + (limit / .seconds(1))) { [weak self] in
                self?.timeIsOver()
            }
        }

        /// Runs a program to its end.
        public static func run(
            _ executable: String, _ arguments: [String], environment: [String: String]? = nil,
            limit: Duration = .seconds(300)
        ) async throws -> Outcome {
            try await ChildProcess(executable, arguments, environment: environment, limit: limit).outcome()
        }

        /// The absolute path of the program called `name`, or `nil` if it is not installed.
        ///
        /// Debian's servers are in /usr/sbin, which is not in the path of every user.
        public static func path(of name: String) -> String? {
            let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
            return (path + ":/usr/sbin").split(separator: ":").map { "\($0)/\(name)" }.first {
                FileManager.default.isExecutableFile(atPath: $0)
            }
        }

        /// Sends `signal`; does nothing once the program has ended.
        public func send(_ signal: Int32) {
            state.withLock { state in
                if state.exit == nil { _ = kill(identifier, signal) }
            }
        }

        /// Stops the program until it gets SIGCONT, and returns when all its threads have stopped.
        public func freeze() {
            send(SIGSTOP)
            var information = siginfo_t()
            while waitid(P_PID, id_t(identifier), &information, WSTOPPED | WNOWAIT) < 0, errno == EINTR {}
        }

        /// Waits for the end of the program and of its output.
        ///
        /// Kills it if the task is canceled.
        public func outcome() async -> Outcome {
            await withTaskCancellationHandler {
                let exit = await withCheckedContinuation { continuation in
                    let exit: Exit? = state.withLock { state in
                        if state.exit == nil { state.waiters.append(continuation) }
                        return state.exit
                    }
                    if let exit { continuation.resume(returning: exit) }
                }
                return await Outcome(exit: exit, output: output.complete(), errors: errors.complete())
            } onCancel: {
                send(SIGKILL)
            }
        }

        /// Whether the program has ended.
        public var hasEnded: Bool { state.withLock { $0.exit != nil } }

        /// Waits for the end of the program, or until the task is canceled.
        ///
        /// Leaves a program alone that still runs then.
        public func ended() async { await eventually { hasEnded } }

        private func waitForEnd() {
            Spawn.waitWithoutReaping(identifier)
            let (exit, waiters) = state.withLock { state in
                // Under the lock, so that no signal is sent to another process that gets the number next.
                let status = Spawn.wait(for: identifier)
                let exit: Exit =
                    state.isOverTime ? .overTime : status.isSignal ? .signal(status.number) : .status(status.number)
                state.exit = exit
                defer { state.waiters = [] }
                return (exit, state.waiters)
            }
            for waiter in waiters { waiter.resume(returning: exit) }
        }

        private func timeIsOver() {
            state.withLock { state in
                guard state.exit == nil else { return }
                state.isOverTime = true
                _ = kill(identifier, SIGKILL)
            }
        }
    }
#endif
