import ArgumentParser
import Primitives
import Reprise
import RepriseProxy

/// How far the transfer of one URL is.
struct TransferReport: Codable, Sendable {
    /// The cache key of what is transferred.
    let key: String
    /// Whether the origin has answered, or did not have to.
    var hasBegun = false
    /// Bytes of the whole; `nil` while unknown.
    var total: Int64?
    /// Bytes that were there before.
    var storedBytes: Int64 = 0
    /// Bytes that are there.
    var bytes: Int64 = 0
    /// Those of them that were there before.
    var fromStore: Int64 = 0
    /// What it waits for, if it does.
    var wait: Problem?
    /// Whether it gives way to a player.
    var yields: Bool?
    /// Of a stream, how many of its files are stored, and how many there are.
    var storedFiles, files: Int?

    init(key: CacheKey) { self.key = key.text }
}

/// Tells how far a transfer is, at each change.
///
/// `tell` is called under the lock, so that no older report comes after a newer one.
final class TransferTeller: Sendable {
    private let state: Mutex<TransferReport>
    private let tell: @Sendable (TransferReport) -> Void

    init(key: CacheKey, tell: @escaping @Sendable (TransferReport) -> Void) {
        (state, self.tell) = (Mutex(TransferReport(key: key)), tell)
    }

    /// How far it is.
    var report: TransferReport { state.withLock { $0 } }

    /// The origin has answered, or did not have to; bytes count from zero.
    func begin(total: Int64?, stored: Int64) {
        change { report in
            (report.hasBegun, report.total, report.storedBytes) = (true, total, stored)
            (report.bytes, report.fromStore) = (0, 0)
        }
    }

    /// So many bytes are there, `fromStore` of them by an earlier run.
    func note(bytes: Int64, fromStore: Int64) { change { ($0.bytes, $0.fromStore) = (bytes, fromStore) } }

    /// Nothing is to arrive for a while, because of `reason`; `nil` when it goes on.
    func wait(because reason: RepriseError?) {
        guard reason != nil || report.wait != nil else { return }
        change { $0.wait = reason.map(Problem.init) }
    }

    /// Whether it gives way to a player.
    func noteYielding(_ yields: Bool) {
        if yields != (report.yields ?? false) { change { $0.yields = yields ? true : nil } }
    }

    /// So many files of the stream are stored.
    func note(_ count: Download.FileCount) {
        guard report.storedFiles != count.stored || report.files != count.all else { return }
        change { ($0.storedFiles, $0.files) = (count.stored, count.all) }
    }

    private func change(_ change: (inout TransferReport) -> Void) {
        state.withLock { report in
            change(&report)
            tell(report)
        }
    }
}

/// Why a subcommand failed for one URL, as the command would say it.
struct FailedTransfer: Codable, Sendable {
    /// The exit code.
    let exitCode: Int32
    let code, message: String

    init(_ reason: Failure.Reason) {
        (exitCode, code, message) = (reason.code.rawValue, reason.name, reason.message)
    }

    var reason: Failure.Reason { Failure.Reason(code: ExitCode(exitCode), name: code, message: message) }
}
