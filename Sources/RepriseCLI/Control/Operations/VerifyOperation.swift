import Primitives
import Reprise
import RepriseProxy

/// Reads everything that is stored and checks it.
struct VerifyOperation: ControlOperation {
    static let name = "verify"

    struct Progress: Codable, Sendable { let readBytes, totalBytes: Int64 }

    struct Outcome: Codable, Sendable {
        struct Damage: Codable, Sendable {
            let key: String
            /// Half-open.
            let first, end: Int64
        }

        /// How much was read when it ended.
        let progress: Progress
        /// It was stopped before all was read: what follows says nothing.
        let wasStopped: Bool
        let entries: Int
        let soundBytes: Int64
        let damaged: [Damage]
        let missing, unreadable: [String]
        let damagedRecords: Int
    }

    /// Bytes after which it is told how far it is.
    private static let toldStep: Int64 = 6 << 20

    func run(in cache: MediaCache, progress: @escaping @Sendable (Progress) -> Void) async throws -> Outcome {
        let last = Mutex(Progress(readBytes: 0, totalBytes: 0))
        let told = Mutex<Int64>(-Self.toldStep)
        var report: VerificationReport?
        do {
            report = try await cache.verify { read, total in
                let now = Progress(readBytes: read, totalBytes: total)
                last.withLock { $0 = now }
                let isDue = told.withLock { told in
                    guard read - told >= Self.toldStep else { return false }
                    told = read
                    return true
                }
                if isDue { progress(now) }
            }
        } catch is CancellationError { report = nil }
        return Outcome(report, at: last.withLock { $0 })
    }
}

extension VerifyOperation.Outcome {
    /// `nil` stands for the report of what was stopped.
    fileprivate init(_ report: VerificationReport?, at progress: VerifyOperation.Progress) {
        (self.progress, wasStopped) = (progress, report == nil)
        (entries, soundBytes) = (report?.entries ?? 0, report?.soundBytes ?? 0)
        damagedRecords = report?.damagedRecords ?? 0
        damaged = (report?.damaged ?? []).map {
            Damage(key: $0.key.text, first: $0.range.lowerBound, end: $0.range.upperBound)
        }
        (missing, unreadable) = ((report?.missing ?? []).map(\.text), (report?.unreadable ?? []).map(\.text))
    }

    /// Bytes that did not match.
    var damagedBytes: Int64 { damaged.reduce(0) { $0 + $1.end - $1.first } }

    /// Whether nothing was damaged, missing or unreadable.
    var isSound: Bool { damaged.isEmpty && missing.isEmpty && unreadable.isEmpty && damagedRecords == 0 }
}
