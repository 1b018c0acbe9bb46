import Foundation
import Primitives
import Reprise

/// One line of `fetch --json`.
///
/// Bytes; seconds.
struct FetchReport: Encodable {
    let url: String
    var state: String
    /// Of several URLs, which one it is, from 1, and how many there are.
    var number, count: Int?
    var bytes: Int64?
    var total: Int64?
    var fromStore: Int64?
    /// Of a stream.
    var storedFiles, files: Int?
    var seconds: Double?
    var bytesPerSecond: Int64?
    /// The error message and the name of the error.
    var error, code: String?
    /// The status of the origin's response, if the origin has refused.
    var status: Int?
}

/// Shows how far a download is: a bar on a terminal, lines elsewhere, JSON on demand; also while nothing arrives.
final class FetchMeter: Sendable {
    private struct State {
        var progress: TransferProgress
        var isShown = false
        var isOver = false
        /// What it waits for: nothing is to arrive.
        var wait: RepriseError?
        /// Why a line of JSON could not be written.
        var failure: (any Error)?
        /// Called when that happens.
        var onFailure: (@Sendable () -> Void)?
        /// What was told last.
        var report: TransferReport?
        /// Bytes of the playlist that this command fetched before the other files of a stream.
        var playlistBytes: Int64 = 0
    }

    /// Which of several URLs it is.
    struct Turn: Sendable {
        /// From 1.
        let number: Int
        let count: Int
    }

    private let url: String
    private let turn: Turn?
    let isJSON: Bool
    private let isQuiet: Bool
    private let start = ContinuousClock.now
    private let state = Mutex(State(progress: TransferProgress(at: .zero)))

    /// Shows progress as `output` says, or as text.
    init(url: String, turn: Turn? = nil, output: TransferOutput? = nil) {
        self.url = URLText.withoutCredentials(url)
        (self.turn, isJSON, isQuiet) = (turn, output?.json ?? false, output?.quiet ?? false)
    }

    private var name: String { (turn.map { "\($0.number)/\($0.count)  " } ?? "") + URLText.name(of: url) }
    private var elapsed: Duration { ContinuousClock.now - start }
    private var hasBar: Bool { !isJSON && Terminal.isInteractive }

    /// Runs `work` and shows the progress until it ends; may be called again for more of the same URL.
    func showing<T>(_ work: () async throws -> T) async rethrows -> T {
        state.withLock { $0.isOver = false }
        let interval: Duration = hasBar ? .milliseconds(200) : .seconds(2)
        let ticker = Task { [self] in
            while true {
                do { try await Task.sleep(for: interval) } catch { return }
                show()
            }
        }
        defer {
            ticker.cancel()
            end()
        }
        return try await work()
    }

    /// Shows what was told.
    func take(_ report: TransferReport) {
        let former = state.withLock { state in
            defer { state.report = report }
            return state.report
        }
        // Another total is that of another version.
        if report.hasBegun, former?.hasBegun != true || former?.total != report.total {
            begin(total: report.total, stored: report.storedBytes)
        }
        if let wait = report.wait { self.wait(because: wait.error) } else { goOn() }
        note(bytes: report.bytes, fromStore: report.fromStore)
    }

    /// The key of what is transferred, once it has been told.
    var key: CacheKey? { state.withLock { $0.report.map { CacheKey($0.key) } } }

    /// Calls `end` when what is shown cannot be written, at once if that is so already.
    func onFailure(_ end: @escaping @Sendable () -> Void) {
        let hasFailed = state.withLock { state in
            state.onFailure = end
            return state.failure != nil
        }
        if hasFailed { end() }
    }

    /// The origin has answered, or did not have to; `stored` bytes were there before.
    func begin(total: Int64?, stored: Int64) {
        let time = elapsed
        state.withLock { $0.progress.begin(total: total, stored: stored, at: time) }
    }

    /// So many bytes are there, `fromStore` of them by an earlier run.
    func note(bytes: Int64, fromStore: Int64) {
        let time = elapsed
        state.withLock { state in
            let stored = max(0, fromStore - state.playlistBytes)
            state.progress.note(bytes: bytes, fromStore: stored, at: time)
        }
    }

    /// The other files of the stream follow, of whose playlist `bytes` were fetched.
    func beginFiles(afterFetching bytes: Int64) { state.withLock { $0.playlistBytes = bytes } }

    /// Nothing is to arrive until ``goOn()``, because of `reason`; says so once, or as long on a terminal.
    func wait(because reason: RepriseError) {
        let isNews = state.withLock { state in
            defer { state.wait = reason }
            return state.wait?.message != reason.message
        }
        if isNews { show(isNews: true) }
    }

    /// Bytes may arrive again.
    func goOn() {
        let time = elapsed
        state.withLock { state in
            if state.wait != nil { state.progress.goOn(at: time) }
            state.wait = nil
        }
    }

    /// What was done, as `fetch` says at the end.
    var summary: String {
        let progress = state.withLock { $0.progress }
        guard progress.bytes > 0 else { return "\(name)  0 B: the file is empty" }
        let fetched = ByteCount(progress.bytes - progress.fromStore)
        return "\(name)  \(ByteCount(progress.bytes)): \(fetched) fetched, "
            + "\(ByteCount(progress.fromStore)) from the store"
    }

    /// How far it is, as a line of JSON.
    func report(_ state: String, failure: Failure.Reason? = nil) -> FetchReport {
        let progress = self.state.withLock { $0.progress }
        let told = self.state.withLock { $0.report }
        return FetchReport(
            url: url, state: state, number: turn?.number, count: turn?.count, bytes: progress.bytes,
            // That of a stream is known when all of it is stored.
            total: progress.total.flatMap { told?.files != nil && $0 < progress.bytes ? nil : $0 },
            fromStore: progress.fromStore, storedFiles: told?.storedFiles, files: told?.files,
            seconds: elapsed / .seconds(1), error: failure?.message, code: failure?.name, status: failure?.status)
    }

    private func show(isNews: Bool = false) {
        let time = elapsed
        // Under the lock, so that nothing comes after the end.
        let onFailure: (@Sendable () -> Void)? = state.withLock { state in
            guard !isQuiet, !state.isOver, state.wait == nil || isNews || hasBar else { return nil }
            state.isShown = true
            let picture = ProgressPicture(
                name: name, url: url, progress: state.progress, time: time, wait: state.wait,
                program: AskedPrograms.path, yields: state.report?.yields == true,
                files: state.report.flatMap { StreamCount($0) })
            if isJSON {
                var report = picture.report
                (report.number, report.count) = (turn?.number, turn?.count)
                do { try Terminal.printJSON(report) } catch {
                    state.failure = state.failure ?? error
                    return state.onFailure
                }
            } else if hasBar {
                Terminal.replaceLine(picture.bar(width: Terminal.width))
            } else {
                Terminal.error(picture.line)
            }
            return nil
        }
        onFailure?()
    }

    /// Throws if what is shown cannot be written, or nothing reads it any more.
    func checkOutput() throws {
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    private func end() {
        state.withLock { state in
            state.isOver = true
            if state.isShown, hasBar { Terminal.replaceLine("") }
        }
    }
}

/// How many files of a stream are stored.
struct StreamCount {
    let stored, all: Int

    /// `nil` if `report` is not about a stream.
    init?(_ report: TransferReport) {
        guard let stored = report.storedFiles, let all = report.files, all > 0 else { return nil }
        (self.stored, self.all) = (stored, all)
    }

    var fraction: Double { Double(stored) / Double(all) }
}

/// A progress at one moment, as text.
struct ProgressPicture {
    let name: String
    let url: String
    let progress: TransferProgress
    let time: Duration
    /// What it waits for, if so.
    var wait: RepriseError?
    /// The program that is asked for an authorization, if one is.
    var program: String?
    /// Whether it gives way to a player.
    var yields = false
    /// Of a stream, whose length in bytes is not known.
    var files: StreamCount?

    private var phase: TransferProgress.Phase { progress.phase(at: time) }

    /// For files and pipes.
    var line: String {
        if let wait { return "\(name)  \(wait.message)" }
        let amount = "\(name)  \(amount)"
        let store = "\(ByteCount(progress.fromStore)) from the store"
        switch phase {
        case .connecting(let wait):
            return "\(name)  \(asking(wait) ?? yielding ?? "connecting to \(authority), \(Self.text(wait))")"
        case .moving(let rate, _): return "\(amount)  \(ByteCount(Int64(rate)))/s  \(store)"
        case .stalled(let wait):
            return "\(amount)  \(asking(wait) ?? yielding ?? "stalled for \(Self.text(wait))")  \(store)"
        }
    }

    /// How much is there.
    private var amount: String {
        if let files { return "\(files.stored) of \(files.all) files  \(ByteCount(progress.bytes))" }
        return "\(ByteCount(progress.bytes))" + (progress.total.map { " of \(ByteCount($0))" } ?? "")
    }

    /// The fraction that is there; `nil` while it is not known how much there is.
    private var fraction: Double? {
        if let files { return files.fraction }
        return progress.total.flatMap { $0 > 0 ? Double(progress.bytes) / Double($0) : nil }
    }

    /// That a program is waited for, if one is.
    private func asking(_ time: Duration) -> String? { program.map { "waiting for \($0), \(Self.text(time))" } }

    /// That a player goes first, if one does.
    private var yielding: String? { yields ? "waiting while a player plays" : nil }

    private static func text(_ time: Duration) -> String { "\(time.components.seconds) s" }

    /// For a terminal of `width` columns.
    func bar(width: Int) -> String {
        guard wait == nil, let fraction, let speed else { return String(line.prefix(width - 1)) }
        let percent = files == nil ? "\(Int(fraction * 100 + 1e-9)) %  " : ""
        let store = progress.fromStore > 0 ? "  store \(ByteCount(progress.fromStore))" : ""
        let numbers = "\(percent)\(amount)  \(speed)\(store)"
        let cells = width - numbers.count - min(name.count, 24) - 7
        guard cells >= 8 else { return String(numbers.prefix(width - 1)) }
        return "\(name.prefix(24))  [\(Bar.progress(fraction, width: cells))]  \(numbers)"
    }

    /// Rate and time that remains; `nil` before the origin has answered.
    private var speed: String? {
        switch phase {
        case .connecting: nil
        case .stalled(let wait): asking(wait) ?? yielding ?? "stalled for \(Self.text(wait))"
        case .moving(let rate, let remaining):
            "\(ByteCount(Int64(rate)))/s" + ((remaining ?? estimate(at: rate)).map { "  ETA \(Self.clock($0))" } ?? "")
        }
    }

    /// The remaining time of a stream at `rate`, if its missing files are as large as the stored ones.
    private func estimate(at rate: Double) -> Duration? {
        guard let files, files.stored > 0, rate >= 1 else { return nil }
        return .seconds(Double(progress.bytes) * Double(files.all - files.stored) / Double(files.stored) / rate)
    }

    /// A line of JSON.
    var report: FetchReport {
        var report = FetchReport(
            url: url, state: "progress", bytes: progress.bytes, total: progress.total, fromStore: progress.fromStore,
            seconds: time / .seconds(1))
        (report.storedFiles, report.files) = (files?.stored, files?.all)
        if let wait {
            (report.state, report.error) = ("waiting", "\(wait.code): \(wait.message)")
            return report
        }
        switch phase {
        case .connecting: break
        case .moving(let rate, _): report.bytesPerSecond = Int64(rate)
        case .stalled: report.bytesPerSecond = 0
        }
        return report
    }

    /// Host and port of the URL.
    private var authority: Substring {
        guard let colon = url.firstRange(of: "://") else { return url[...] }
        return url[colon.upperBound...].prefix { !"/?#".contains($0) }
    }

    /// Minutes and seconds, with hours where there are any.
    private static func clock(_ duration: Duration) -> String {
        func padded(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let seconds = duration.components.seconds
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
        let rest = padded(seconds % 60)
        return hours > 0 ? "\(hours):\(padded(minutes)):\(rest)" : "\(minutes):\(rest)"
    }
}
