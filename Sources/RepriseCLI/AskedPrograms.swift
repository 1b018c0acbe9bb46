import Foundation
import Primitives

/// The programs of `--authorize-command` that run at present.
///
/// They end with this process, unless that is killed.
enum AskedPrograms {
    private struct Entry {
        let program: RunningProgram
        let path: String
    }

    private static let entries = Mutex<[ObjectIdentifier: Entry]>([:])
    /// Makes those end that run when this process exits.
    private static let ending: Void = { _ = atexit { AskedPrograms.endAll() } }()

    /// One of them, for a person who waits; `nil` if none runs.
    static var path: String? { entries.withLock { $0.values.first?.path } }

    /// Notes that a program was started.
    static func add(_ program: RunningProgram, path: String) {
        _ = ending
        entries.withLock { $0[ObjectIdentifier(program)] = Entry(program: program, path: path) }
    }

    /// Notes that a program has ended.
    static func remove(_ program: RunningProgram) { entries.withLock { $0[ObjectIdentifier(program)] = nil } }

    /// Kills all that run, with what they have started.
    static func endAll() {
        for entry in entries.withLock({ Array($0.values) }) { entry.program.kill() }
    }
}
