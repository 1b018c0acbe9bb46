/// How many files have stored bytes.
package struct EntryCounts: Sendable, Equatable {
    /// Entries with all bytes of their file.
    package internal(set) var complete: Int64 = 0
    /// Entries that lack some, or whose length is unknown.
    package internal(set) var partial: Int64 = 0

    package init() {}

    /// Adds `difference` to one of the two.
    mutating func add(_ difference: Int64, isComplete: Bool) {
        if isComplete { complete += difference } else { partial += difference }
    }
}

extension MediaCache {
    /// How many entries the index has; `nil` without a store.
    ///
    /// The first call reads all records, later ones nothing. Throws ``RepriseError`` with code `storageUnavailable`,
    /// and `CancellationError`.
    package func entryCounts() async throws -> EntryCounts? { try await engine.store?.index.entries.counts() }
}
