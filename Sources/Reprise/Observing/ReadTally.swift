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
