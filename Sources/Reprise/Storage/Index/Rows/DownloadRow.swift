import Foundation
import GRDB

/// A row of `retention` that is a download.
struct DownloadRow: IndexRow {
    let retention: RetentionRow
    let isPaused: Bool
    let networkPolicy: NetworkPolicy
    /// The encoded reason why it waits or has failed; `nil` if there is none.
    let failure: Data?

    init?(_ row: Row) {
        guard let retention = RetentionRow(row) else { return nil }
        self.retention = retention
        isPaused = row.value("paused") ?? 0 != 0
        failure = row.value("failure")
        let number = row.value("policy") ?? 0
        networkPolicy = Self.policies.indices.contains(number) ? Self.policies[number] : .any
    }

    /// In the order of their numbers in the index.
    private static let policies: [NetworkPolicy] = [.any, .inexpensive, .inexpensiveAndUnconstrained]

    static func number(of policy: NetworkPolicy) -> Int { policies.firstIndex(of: policy) ?? 0 }
}
