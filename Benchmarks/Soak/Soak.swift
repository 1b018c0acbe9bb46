@preconcurrency import Dispatch
import Foundation
import RepriseTesting

/// Runs the stages of a soak.
struct Soak {
    private let command: SoakCommand
    private let seed: UInt64
    private let executable: String

    /// `executable` is the `reprise` to test.
    init(_ command: SoakCommand, seed: UInt64, executable: String) {
        self.command = command
        self.seed = seed
        self.executable = executable
    }

    /// Runs both stages; returns the failures, one per line.
    ///
    /// Keeps the folder with the server's log if there are failures.
    func run() throws -> [String] {
        let folder = FileManager.default.temporaryDirectory.path + "/reprise-soak-\(UUID().uuidString)"
        var failures: [String] = []
        let interruption = Interruption()
        if command.plainSeconds > 0 {
            let seconds = command.plainSeconds
            failures += try stage(folder + "/plain", limit: 1 << 40, seconds: seconds, isPlain: true, interruption)
        }
        if !interruption.hasCome {
            let limit = Int64(command.limit) * 1_000_000
            let seconds = command.minutes * 60
            failures += try stage(folder + "/faulty", limit: limit, seconds: seconds, isPlain: false, interruption)
        }
        if failures.isEmpty {
            try FileManager.default.removeItem(atPath: folder)
        } else {
            for cache in ["plain/cache", "faulty/cache"] {
                try? FileManager.default.removeItem(atPath: "\(folder)/\(cache)")
            }
            say("The log of the server is in \(folder).")
        }
        return failures
    }

    private func stage(
        _ folder: String, limit: Int64, seconds: Double, isPlain: Bool, _ interruption: Interruption
    ) throws -> [String] {
        let ending = Ending()
        let threads = Threads()
        interruption.ends(ending)
        // Also if something below throws.
        defer { ending.announce() }
        let library = Library(count: command.files, origins: command.origins, seed: seed)
        let restarts = isPlain ? nil : FaultyOrigin.Restarts(interval: 45...75, absence: 0.3...3)
        let sent = isPlain ? DistinctBytes() : nil
        let origins = try (0..<command.origins).map { number in
            let seed = seed &+ UInt64(number)
            let faults = FaultPlan(share: isPlain ? 0 : command.faults, seed: seed)
            // Every second one is read ahead.
            let host = isPlain || number.isMultiple(of: 2) ? "127.0.0.1" : Self.readAheadHost
            return try FaultyOrigin.start(
                library, host: host, faults: faults, restarts: restarts, sent: sent, seed: seed, ending: ending,
                threads: threads)
        }
        let server = try ServerUnderTest(
            executable, directory: folder, options: try options(folder, limit: limit, isPlain))
        defer { server.stop() }
        let stage = Stage(
            library: library, origins: origins, port: server.port, wanted: isPlain ? DistinctBytes() : nil,
            ending: ending, watchdog: Watchdog(patience: command.patience),
            meanRate: command.rate * 1e6 / Double(command.clients),
            isHostile: command.hostile)
        let title = isPlain ? "Honest origins, no eviction" : "Faults, changes, restarts, eviction"
        let sizes = "\(command.files) files, \(library.bytes / 1_000_000) MB"
        say("\n\(title): \(sizes)\(isPlain ? "" : ", limit \(limit / 1_000_000) MB")\n\(Report.heading)")
        for number in 0..<command.clients {
            let seed = seed
            threads.start {
                var player = Player(stage, number: number, seed: seed)
                player.run()
            }
        }
        if !isPlain {
            change(library, ending, threads)
            threads.start { [seed] in
                var keeper = Keeper(stage, seed: seed)
                keeper.run()
            }
        }
        let failures = watch(stage, server, in: folder, limit: limit, seconds: seconds)
        ending.announce()
        server.stop()
        threads.wait(30)
        summarize(stage, sent)
        return failures
    }

    /// Prints the lines; returns the failures.
    private func watch(
        _ stage: Stage, _ server: ServerUnderTest, in folder: String, limit: Int64, seconds: Double
    ) -> [String] {
        let began = Uptime.seconds
        let pace = min(5, max(0.5, seconds / 120))
        var report = Report(limit: limit, pace: pace)
        var nextLine = command.every
        var time = 0.0
        while server.isAlive, stage.ending.wait(min(pace, seconds - time)) {
            time = Uptime.seconds - began
            report.add(server.sample)
            reportHangs(stage, server, in: folder)
            if time >= min(nextLine, seconds) {
                nextLine += command.every
                say(report.line(at: time, stage.tally.now, originBytes: stage.originBytes))
            }
            if time >= seconds { break }
        }
        // Samples since the last line, after Ctrl-C.
        if Uptime.seconds - began > nextLine - command.every + 1 {
            say(report.line(at: Uptime.seconds - began, stage.tally.now, originBytes: stage.originBytes))
        }
        var failures = report.failures(stage.tally.now)
        if !server.isAlive, !stage.ending.hasCome { failures.append("the server died: \(server.end)") }
        return failures
    }

    /// Says what hangs, and what the server knows about it.
    private func reportHangs(_ stage: Stage, _ server: ServerUnderTest, in folder: String) {
        let hangs = stage.watchdog.hangs(at: Uptime.seconds)
        guard !hangs.isEmpty else { return }
        stage.tally.change { $0.hangs += hangs.count }
        let json = server.status
        let status = json.flatMap { try? ServerStatus($0) }
        try? json?.write(to: URL(fileURLWithPath: "\(folder)/status-\(Int(Uptime.seconds)).json"))
        for hang in hangs {
            let path = hang.request.split(separator: " ").first { $0.hasPrefix("/") }.map(String.init) ?? "?"
            let detail = status.map { $0.excerpt(of: path) } ?? "status.json does not come"
            stage.tally.complain(
                "no byte", doing: "waiting",
                "\(hang.client), \(hang.request), \(Int(hang.seconds)) s after \(hang.bytes) bytes; \(detail)")
        }
    }

    private func change(_ library: Library, _ ending: Ending, _ threads: Threads) {
        guard command.changes > 0 else { return }
        threads.start { [seed, interval = command.changes] in
            var random = SeededGenerator(seed: ~seed)
            while ending.wait(interval) { library.changeOne(using: &random) }
        }
    }

    private static let readAheadHost = "localhost"

    private func options(_ folder: String, limit: Int64, _ isPlain: Bool) throws -> [String] {
        var options = ["--limit", "\(limit)B"]
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        if !isPlain {
            let file = folder + "/reprise.conf"
            let text = "[host \(Self.readAheadHost)]\nread-ahead = \(command.readAhead)\n"
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            options += ["--config", file]
        }
        if command.shared { options.append("--shared") }
        if command.encrypted {
            let key = folder + "/key"
            try Data(TestPattern.bytes(in: 0..<32, seed: seed)).write(to: URL(fileURLWithPath: key))
            options += ["--encrypt-key-file", key]
        }
        return options
    }

    private func summarize(_ stage: Stage, _ sent: DistinctBytes?) {
        let counts = stage.tally.now
        let origin = Double(stage.originBytes) / 1e6
        let requests = stage.origins.reduce(0) { $0 + $1.counts.requests }
        say(
            """

            Total: \(counts.requests) requests, \(counts.servedBytes / 1_000_000) MB served, \
            \(Report.text(origin, 1)) MB from the origins in \(requests) requests.
            """)
        if let wanted = stage.wanted, let sent {
            let distinct = Double(wanted.count) / 1e6
            let again = origin - Double(sent.count) / 1e6
            say(
                """
                Distinct: \(Report.text(distinct, 1)) MB wanted; origin / distinct \
                \(Report.text(origin / max(distinct, 0.001), 4)); sent again: \(Report.text(again, 1)) MB.
                """)
        }
        let reasons = Tally.Reason.allCases.map { "\($0) \(counts.brokenOff[$0] ?? 0)" }.joined(separator: ", ")
        say("Broken off, by reason: \(reasons).")
        for (what, count) in counts.complaints.sorted(by: { $0.value > $1.value }) { say("  \(count) × \(what)") }
    }
}

/// Ctrl-C, which ends the running stage.
final class Interruption: Sendable {
    private let all = Ending()
    private let source: any DispatchSourceSignal

    init() {
        signal(SIGINT, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGINT, queue: .global())
        source.setEventHandler { [all] in all.announce() }
        source.resume()
    }

    /// Whether it has come.
    var hasCome: Bool { all.hasCome }

    /// Ends `ending` when it comes.
    func ends(_ ending: Ending) { all.whenItComes { ending.announce() } }
}
