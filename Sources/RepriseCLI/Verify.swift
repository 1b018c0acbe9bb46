import ArgumentParser
import Reprise

/// `reprise verify`.
struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Read everything that is stored and check it.",
        discussion: """
            What is damaged becomes a hole and is fetched again when it is played. The exit code is 1 if anything was \
            damaged, the index included. Stopped by a signal, it says how much was checked.

            Examples:
              reprise verify
              reprise verify --json
            """)

    @Flag(help: "One JSON object, sizes in bytes.")
    var json = false
    @OptionGroup var cache: CacheOptions

    private struct Report: Encodable {
        let entries: Int
        let soundBytes, damagedBytes: Int64
        let damaged: [VerifyOperation.Outcome.Damage]
        let missing: [String]
        let unreadable: [String]
        let damagedRecords: Int
        /// Why the cache started empty; missing if it did not.
        let reset: String?
    }

    func run() async throws {
        let signals = StopSignals()
        try await Failure.reporting {
            var reset: String?
            let result = try await cache.withAccess(signals: signals) { access in
                // The server has told of its own.
                if case .opened(let cache) = access { reset = cache.resetReason }
                return await signals.interrupting {
                    let outcome = try await access.perform(VerifyOperation()) {
                        Self.show($0.readBytes, of: $0.totalBytes)
                    }
                    guard !outcome.wasStopped else { throw Self.interruption(at: outcome.progress) }
                    return outcome
                }
            }
            let outcome = try signals.get(result)
            if Terminal.isInteractive { Terminal.replaceLine("") }
            try show(outcome, reset: reset)
            if !outcome.isSound || reset != nil { throw ExitCode(1) }
        }
    }

    private static func interruption(at progress: VerifyOperation.Progress) -> StopSignals.Interruption {
        let (read, total) = (progress.readBytes, progress.totalBytes)
        let share = total > 0 ? "\(ByteCount(read)) of \(ByteCount(total))" : "Nothing"
        return StopSignals.Interruption(
            message: "Stopped. \(share) was checked; run the same command again to check all.")
    }

    private func show(_ report: VerifyOperation.Outcome, reset: String?) throws {
        if json {
            try Terminal.printJSON(
                Report(
                    entries: report.entries, soundBytes: report.soundBytes, damagedBytes: report.damagedBytes,
                    damaged: report.damaged, missing: report.missing, unreadable: report.unreadable,
                    damagedRecords: report.damagedRecords, reset: reset))
        } else {
            for damage in report.damaged {
                let key = CacheKey(damage.key).redacted
                try Terminal.print("damaged: \(key) bytes \(damage.first)-\(damage.end - 1)")
            }
            for key in report.missing { try Terminal.print("file gone: \(CacheKey(key).redacted)") }
            if report.damagedRecords > 0 {
                try Terminal.print("records removed that could not be read: \(report.damagedRecords)")
            }
            for key in report.unreadable { try Terminal.print("file cannot be opened: \(CacheKey(key).redacted)") }
            try Terminal.print(
                "\(report.entries) \(report.entries == 1 ? "entry" : "entries"), \(ByteCount(report.soundBytes)) sound, "
                    + "\(ByteCount(report.damagedBytes)) damaged, \(report.missing.count) without their file.")
        }
    }

    /// A bar on a terminal, nothing elsewhere.
    @Sendable private static func show(_ read: Int64, of total: Int64) {
        guard Terminal.isInteractive, total > 0 else { return }
        Terminal.replaceLine(
            "[\(Bar.progress(Double(read) / Double(total), width: 40))]  \(ByteCount(read))/\(ByteCount(total))")
    }
}
