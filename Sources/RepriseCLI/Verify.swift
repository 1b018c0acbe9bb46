import ArgumentParser
import Primitives
import Reprise

/// `reprise verify`.
struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Read everything that is stored and check it.",
        discussion: """
            What is damaged becomes a hole and is fetched again when it is played. The proxy must not be running on the
            same directory. The exit code is 1 if anything was damaged, the index included. Stopped by a signal, it says how much was checked.

            Examples:
              reprise verify
              reprise verify --json
            """)

    @OptionGroup var cache: CacheOptions
    @Flag(help: "One JSON object, sizes in bytes.")
    var json = false

    private struct Report: Encodable {
        struct Damage: Encodable {
            let key: String
            let first, end: Int64
        }

        let entries: Int
        let soundBytes, damagedBytes: Int64
        let damaged: [Damage]
        let missing: [String]
        let unreadable: [String]
        let damagedRecords: Int
        /// Why the cache started empty; missing if it did not.
        let reset: String?
    }

    func run() async throws {
        let signals = StopSignals()
        try await Failure.reporting {
            let read = Mutex<(bytes: Int64, total: Int64)>((0, 0))
            var reset: String?
            let result = try await cache.withCache { store in
                reset = store.resetReason
                return await signals.interrupting {
                    try await store.verify { bytes, total in
                        read.withLock { $0 = (bytes, total) }
                        Self.show(bytes, of: total)
                    }
                }
            }
            let report = try signals.get(
                result.mapError { error in
                    guard error is CancellationError else { return error }
                    let (bytes, total) = read.withLock { $0 }
                    let share = total > 0 ? "\(ByteCount(bytes)) of \(ByteCount(total))" : "Nothing"
                    return StopSignals.Interruption(
                        message: "Stopped. \(share) was checked; run the same command again to check all.")
                })
            if Terminal.isInteractive { Terminal.replaceLine("") }
            try show(report, reset: reset)
            if !report.isSound || reset != nil { throw ExitCode(1) }
        }
    }

    private func show(_ report: VerificationReport, reset: String?) throws {
        let damaged = report.damaged.reduce(0) { $0 + $1.range.upperBound - $1.range.lowerBound }
        if json {
            try Terminal.printJSON(
                Report(
                    entries: report.entries, soundBytes: report.soundBytes, damagedBytes: damaged,
                    damaged: report.damaged.map {
                        Report.Damage(key: $0.key.text, first: $0.range.lowerBound, end: $0.range.upperBound)
                    },
                    missing: report.missing.map(\.text), unreadable: report.unreadable.map(\.text),
                    damagedRecords: report.damagedRecords, reset: reset))
        } else {
            for damage in report.damaged {
                let (key, range) = (damage.key, damage.range)
                try Terminal.print("damaged: \(key.redacted) bytes \(range.lowerBound)-\(range.upperBound - 1)")
            }
            for key in report.missing { try Terminal.print("file gone: \(key.redacted)") }
            if report.damagedRecords > 0 {
                try Terminal.print("records removed that could not be read: \(report.damagedRecords)")
            }
            for key in report.unreadable { try Terminal.print("file cannot be opened: \(key.redacted)") }
            try Terminal.print(
                "\(report.entries) \(report.entries == 1 ? "entry" : "entries"), \(ByteCount(report.soundBytes)) sound, "
                    + "\(ByteCount(damaged)) damaged, \(report.missing.count) without their file.")
        }
    }

    /// A bar on a terminal, nothing elsewhere.
    @Sendable private static func show(_ read: Int64, of total: Int64) {
        // 64 KiB at a time: every hundredth is often enough.
        guard Terminal.isInteractive, total > 0, read / (64 << 10) % 100 == 0 else { return }
        Terminal.replaceLine(
            "[\(Bar.progress(Double(read) / Double(total), width: 40))]  \(ByteCount(read))/\(ByteCount(total))")
    }
}
