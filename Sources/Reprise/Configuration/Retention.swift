/// How long an entry stays.
public enum Retention: Sendable, Hashable {
    /// Until room is needed; the least recently used entries are evicted first.
    case cached
    /// Until that time, in seconds since 1970; until released if `nil`.
    ///
    /// Bytes stored before and after are kept; missing ones are not fetched.
    case pinned(until: Double? = nil)
    /// Until released, and complete: missing bytes are fetched, also after a restart.
    case download

    /// The number used in the index; `nil` means no row.
    var kind: Int? {
        switch self {
        case .cached: nil
        case .pinned: 1
        case .download: 2
        }
    }

    var until: Double? { if case .pinned(let until) = self { until } else { nil } }

    init(kind: Int?, until: Double?) {
        switch kind {
        case 1: self = .pinned(until: until)
        case 2: self = .download
        default: self = .cached
        }
    }
}
