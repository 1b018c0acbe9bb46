import HTTPSemantics
import Reprise

/// How a read was answered, as its client is told (RFC 9211).
struct CacheOutcome: Equatable {
    let disposition: ReadDisposition
    /// Why the origin was asked; `nil` if it was not, or only for missing bytes.
    var forwarded: CacheStatus.ForwardReason?
    /// The status of the origin's answer.
    var originStatus: Int?
    /// Whether another reader's fetch brings the first byte.
    var isCollapsed = false
    /// Seconds for which the response may still be used; negative if it is stale, `nil` if it is not stored.
    var timeToLive: Int64?

    /// The field's member for this cache.
    var status: CacheStatus {
        switch disposition {
        case .hit: CacheStatus(.hit, isCollapsed: isCollapsed, timeToLive: timeToLive.flatMap { $0 < 0 ? $0 : nil })
        case .validated: CacheStatus(handling(.stale))
        case .partial: CacheStatus(handling(because: .partial), isStored: true, isCollapsed: isCollapsed)
        case .miss: CacheStatus(handling(because: .miss), isStored: true, isCollapsed: isCollapsed)
        case .unknown: CacheStatus(handling(.uriMiss), isStored: originStatus != 304, isCollapsed: isCollapsed)
        case .bypass: CacheStatus(handling(.bypass))
        }
    }

    /// Whether the stored response was served because the origin, which was asked about it, could not be reached.
    var isWithoutAnswer: Bool { disposition == .validated && originStatus == nil }

    /// Whether the response answers this reader's own request, and no other reader's.
    var isOwnAnswer: Bool {
        switch disposition {
        case .bypass: true
        case .unknown: !isCollapsed
        case .hit, .validated, .partial, .miss: false
        }
    }

    private func handling(_ usual: CacheStatus.ForwardReason) -> CacheStatus.Handling {
        handling(because: forwarded ?? usual)
    }

    private func handling(because reason: CacheStatus.ForwardReason) -> CacheStatus.Handling {
        .forwarded(reason, status: originStatus)
    }
}

extension CacheOutcome {
    /// The outcome of `read`, at the wall-clock time `now`.
    init(of read: MediaRead, now: Double) {
        let now = HTTPDate(secondsSince1970: Int64(now))
        self.init(
            disposition: read.disposition, forwarded: read.forwarded, originStatus: read.originStatus,
            isCollapsed: read.isCollapsed, timeToLive: read.information.freshness.map { -$0.staleness(now: now) })
    }
}
