import Foundation
import Primitives

/// The observations of a stage's clients.
final class Tally: Sendable {
    /// Why a response ended early, or was an error.
    enum Reason: String, CaseIterable, Sendable {
        /// An answer of the origin for this file was faulty just before.
        case fault
        /// The origin was down just before.
        case restart
        /// The file changed, and the response was of another version.
        case change
        /// The file has no strong validator or no ranges, so that a response cannot be continued.
        case unjoinable
        /// None of these.
        case unexplained
    }

    /// Counts since the beginning of a stage.
    struct Counts: Sendable {
        var requests = 0
        var servedBytes: Int64 = 0
        var wrongBytes = 0
        /// Invalid answers: wrong bytes, a wrong head, or an outdated version.
        var wrongAnswers = 0
        var brokenOff: [Reason: Int] = [:]
        /// Requests that received no bytes for too long.
        var silent = 0
        /// Requests that the watchdog has seen to hang.
        var hangs = 0
        /// Connections that were not accepted.
        var refusedConnections = 0
        /// Wrong or unexplained answers, by what the client was doing.
        var complaints: [String: Int] = [:]

        var explained: Int { brokenOff.reduce(0) { $0 + ($1.key == .unexplained ? 0 : $1.value) } }
        var unexplained: Int { brokenOff[.unexplained] ?? 0 }
    }

    /// How many of a kind are reported at once.
    private static let shownComplaints = 3
    private let counts = Mutex(Counts())
    private let began = Uptime.seconds

    var now: Counts { counts.withLock { $0 } }

    func change(_ body: (inout Counts) -> Void) { counts.withLock { body(&$0) } }

    /// Counts an invalid answer, and reports the first of each kind.
    func complain(_ what: String, doing: String, _ detail: String) {
        let kind = "\(Self.withoutNumbers(what)), \(doing)"
        let number = counts.withLock { counts in
            counts.complaints[kind, default: 0] += 1
            return counts.complaints[kind, default: 0]
        }
        guard number <= Self.shownComplaints else { return }
        let seconds = Int(Uptime.seconds - began)
        let line = Data("soak: \(seconds) s: \(what), \(doing): \(detail)\n".utf8)
        // Without a reader the counts remain.
        try? FileHandle.standardError.write(contentsOf: line)
    }

    /// A complaint without its numbers, except status codes.
    private static func withoutNumbers(_ text: String) -> String {
        var result = ""
        var digits = ""
        for character in text + " " {
            if character.isNumber {
                digits.append(character)
            } else {
                result += (digits.count > 3 ? "N" : digits) + String(character)
                digits = ""
            }
        }
        return String(result.dropLast())
    }
}
