/// Sums since the cache was opened, or over its whole life.
public struct CacheStatistics: Sendable, Equatable {
    /// Bytes given to readers that were on disk before the read began.
    public var bytesFromStore: Int64 = 0
    /// Bytes given to readers that another reader's fetch brought.
    public var bytesFromJoinedFetch: Int64 = 0
    /// Bytes given to readers that their own fetch brought.
    public var bytesFromOrigin: Int64 = 0
    /// Body bytes received from origins.
    public var bytesFetched: Int64 = 0
    /// Requests made to origins; one whose reader leaves at once may be dropped before it is sent.
    public var originRequests: Int64 = 0
    /// Reads begun.
    public var reads: Int64 = 0

    /// Bytes given to readers.
    public var bytesServed: Int64 { bytesFromStore + bytesFromJoinedFetch + bytesFromOrigin }
    /// Bytes that did not have to be fetched; negative when aborted reads fetched more than was used.
    public var bytesSaved: Int64 { bytesServed - bytesFetched }

    /// Zero in everything.
    public init() {}

    private static var columns: [(String, WritableKeyPath<CacheStatistics, Int64>)] {
        [
            ("bytesFromStore", \.bytesFromStore), ("bytesFromJoinedFetch", \.bytesFromJoinedFetch),
            ("bytesFromOrigin", \.bytesFromOrigin), ("bytesFetched", \.bytesFetched),
            ("originRequests", \.originRequests), ("reads", \.reads),
        ]
    }

    init(totals: [String: Int64]) {
        for (name, path) in Self.columns { self[keyPath: path] = totals[name] ?? 0 }
    }

    var totals: [String: Int64] {
        Dictionary(uniqueKeysWithValues: Self.columns.map { ($0, self[keyPath: $1]) }).filter { $0.value != 0 }
    }

    static func - (left: CacheStatistics, right: CacheStatistics) -> CacheStatistics {
        combine(left, right, by: -)
    }

    static func + (left: CacheStatistics, right: CacheStatistics) -> CacheStatistics {
        combine(left, right, by: +)
    }

    private static func combine(
        _ left: CacheStatistics, _ right: CacheStatistics, by operation: (Int64, Int64) -> Int64
    ) -> CacheStatistics {
        var result = CacheStatistics()
        for (_, path) in columns { result[keyPath: path] = operation(left[keyPath: path], right[keyPath: path]) }
        return result
    }
}

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
