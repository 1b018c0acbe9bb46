/// Counters of a cache since it was opened, for monitoring.
///
/// Counts never fall, as monitors expect of counters; ``statistics`` may, when bytes that could not be read are taken
/// back.
package struct CacheTally: Sendable {
    /// The sums that outlive the process.
    package internal(set) var statistics = CacheStatistics()
    /// Bytes given to readers.
    package private(set) var served = SourceBytes()
    /// Reads, by how they began.
    package private(set) var reads = ReadTally()
    /// Reads that have begun and not ended; those that memory answers are not among them.
    package internal(set) var openReads = 0
    /// What was asked of origins and what readers got of them, by host.
    package internal(set) var origins = BusiestHosts()
    /// Evicted bytes of media, by reason.
    package private(set) var evicted: [EvictionReason: Int64] = [:]
    /// How often bytes bypassed the store, by reason.
    package private(set) var bypasses: [BypassReason: Int64] = [:]
    /// Stored bytes that failed their check.
    package private(set) var damagedBytes: Int64 = 0
    /// How often a stale response was served because its origin did not answer.
    package private(set) var staleServed: Int64 = 0
    /// How often a file had changed at its origin.
    package private(set) var generationsReplaced: Int64 = 0
    /// How often a failed request was repeated, by the code of the error.
    package private(set) var retries: [String: Int64] = [:]

    package init() {}

    /// Counts bytes of media of `host` that readers got; below zero for bytes that they will get again.
    mutating func noteServed(_ bytes: Int64, from source: PieceSource, of host: String) {
        switch source {
        case .store: statistics.bytesFromStore += bytes
        case .joined: statistics.bytesFromJoinedFetch += bytes
        case .origin: statistics.bytesFromOrigin += bytes
        }
        served.store = max(served.store, statistics.bytesFromStore)
        served.joined = max(served.joined, statistics.bytesFromJoinedFetch)
        served.origin = max(served.origin, statistics.bytesFromOrigin)
        origins.count(host) { $0.noteServed(bytes) }
    }

    /// Counts reads that began.
    mutating func noteReads(_ count: Int64, _ disposition: ReadDisposition, isCollapsed: Bool) {
        statistics.reads += count
        reads.add(count, disposition, isCollapsed: isCollapsed)
    }

    /// Counts body bytes that `host` sent; below zero for bytes that will be counted again.
    mutating func noteFetched(_ bytes: Int64, from host: String) {
        statistics.bytesFetched += bytes
        origins.count(host) { $0.noteBytes(bytes) }
    }

    mutating func noteEvicted(_ bytes: Int64, because reason: EvictionReason) { evicted[reason, default: 0] += bytes }

    /// Counts what `event` says, as far as nothing else does; `bypass` is why bytes bypass the store, if they do.
    mutating func note(_ event: CacheEvent, because bypass: BypassReason) {
        switch event {
        case .storeBypassed: bypasses[bypass, default: 0] += 1
        case .verificationFailed(_, let range): damagedBytes += range.upperBound - range.lowerBound
        case .servedStale: staleServed += 1
        case .generationReplaced: generationsReplaced += 1
        case .fetchRetried(_, _, let error): retries["\(error.code)", default: 0] += 1
        default: break
        }
    }
}

/// Why entries, or parts of them, were evicted.
package enum EvictionReason: String, Sendable, CaseIterable {
    /// The limit of the cache, of live streams or of a tag was reached.
    case room
    /// They had not been used for the maximum age.
    case age
    /// The disk was about to be full.
    case free
    /// The user asked for it.
    case prune
}

/// Why bytes bypass the store.
package enum BypassReason: String, Sendable, CaseIterable {
    /// The response must not or cannot be stored.
    case response
    /// There is no room under the limit, or on the disk.
    case room
    /// The disk or the index failed.
    case disk
}

/// Reads, by how they began and whether another reader's fetch brought their first byte.
package struct ReadTally: Sendable, Equatable {
    private struct Counts: Equatable {
        var hit: Int64 = 0, partial: Int64 = 0, miss: Int64 = 0, unknown: Int64 = 0, validated: Int64 = 0
        var bypass: Int64 = 0
    }

    private var own = Counts()
    private var collapsed = Counts()

    package init() {}

    private static func path(_ disposition: ReadDisposition) -> WritableKeyPath<Counts, Int64> {
        switch disposition {
        case .hit: \.hit
        case .partial: \.partial
        case .miss: \.miss
        case .unknown: \.unknown
        case .validated: \.validated
        case .bypass: \.bypass
        }
    }

    /// Adds `count` reads.
    mutating func add(_ count: Int64, _ disposition: ReadDisposition, isCollapsed: Bool) {
        // Hits that memory answers are by far the most.
        if disposition == .hit, !isCollapsed {
            own.hit += count
        } else if isCollapsed {
            collapsed[keyPath: Self.path(disposition)] += count
        } else {
            own[keyPath: Self.path(disposition)] += count
        }
    }

    /// Number of reads of that kind.
    package func count(_ disposition: ReadDisposition, isCollapsed: Bool) -> Int64 {
        (isCollapsed ? collapsed : own)[keyPath: Self.path(disposition)]
    }
}

/// Bytes given to readers, by their source.
package struct SourceBytes: Sendable, Equatable {
    /// Bytes that were on disk.
    package var store: Int64 = 0
    /// Bytes that another reader's fetch brought.
    package var joined: Int64 = 0
    /// Bytes that the reader's own fetch brought.
    package var origin: Int64 = 0

    package init() {}

    /// Bytes from `source`.
    package subscript(source: PieceSource) -> Int64 {
        get {
            switch source {
            case .store: store
            case .joined: joined
            case .origin: origin
            }
        }
        set {
            switch source {
            case .store: store = newValue
            case .joined: joined = newValue
            case .origin: origin = newValue
            }
        }
    }

    /// Bytes from all sources.
    package var total: Int64 { store + joined + origin }

    /// Adds `right` to `left`.
    package static func += (left: inout SourceBytes, right: SourceBytes) {
        for source in PieceSource.allCases { left[source] += right[source] }
    }
}
