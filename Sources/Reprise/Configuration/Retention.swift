public import Foundation

/// How long an entry stays.
public enum Retention: Sendable, Hashable {
    /// Until room is needed; the least recently used entries are evicted first.
    case cached
    /// Until that time; until released if `nil`.
    ///
    /// Bytes stored before and after are kept; missing ones are not fetched.
    case pinned(until: Date?)
    /// Until released, and complete: missing bytes are fetched, also after a restart.
    case download

    /// Until released; the same as `.pinned(until: nil)`.
    public static var pinned: Retention { .pinned(until: nil) }

    /// The number used in the index; `nil` means no row.
    var kind: Int? {
        switch self {
        case .cached: nil
        case .pinned: 1
        case .download: 2
        }
    }

    /// The end in seconds since 1970, as the index has it.
    var until: Double? { if case .pinned(let until?) = self { until.timeIntervalSince1970 } else { nil } }

    init(kind: Int?, until: Double?) {
        switch kind {
        case 1: self = .pinned(until: until.map { Date(timeIntervalSince1970: $0) })
        case 2: self = .download
        default: self = .cached
        }
    }
}
