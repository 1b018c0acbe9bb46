import Foundation
import Primitives

/// The programs of `--authorize-command` that run at present.
///
/// They end with this process, unless that is killed.
enum AskedPrograms {
    private static let paths = Mutex<[pid_t: String]>([:])
    /// Makes those end that run when this process exits.
    private static let ending: Void = { _ = atexit { AskedPrograms.endAll() } }()

    /// One of them, for a person who waits; `nil` if none runs.
    static var path: String? { paths.withLock { $0.values.first } }

    /// Notes that a program was started.
    static func add(_ identifier: pid_t, path: String) {
        _ = ending
        paths.withLock { $0[identifier] = path }
    }

    /// Notes that a program has ended.
    static func remove(_ identifier: pid_t) { paths.withLock { $0[identifier] = nil } }

    /// Kills a program, with those that it has started where it has a group of its own.
    static func end(_ identifier: pid_t) {
        remove(identifier)
        if kill(-identifier, SIGKILL) != 0 { kill(identifier, SIGKILL) }
    }

    /// Kills all that run.
    static func endAll() {
        for identifier in paths.withLock({ Array($0.keys) }) { end(identifier) }
    }
}
