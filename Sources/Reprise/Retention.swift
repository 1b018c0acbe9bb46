/// How long an entry stays.
public enum Retention: Sendable, Hashable {
    /// Until room is needed: the least recently used goes first.
    case cached
    /// Until that time, in seconds since 1970, or until released if `nil`.
    ///
    /// What of it is stored stays; nothing is fetched for it.
    case pinned(until: Double? = nil)
    /// Until released, and whole: what is missing is fetched, also after a restart.
    case download

    /// The catalogue's number; `nil` = no row.
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
