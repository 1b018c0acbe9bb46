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
    /// The beginning until released, such as that of every film in a library; the rest goes like other bytes when room
    /// is needed.
    ///
    /// ``MediaCache/retain(_:as:)`` fetches what is missing of the beginning, as ``MediaResource/preload(_:)`` does;
    /// later it is not fetched again. Room is made in steps of 2 MiB. Whole entries stay where the file system cannot
    /// free a part of a file. Of responses that vary with the request, the one that the resource selects is kept.
    case first(PreloadAmount)

    /// Until released; the same as `.pinned(until: nil)`.
    public static var pinned: Retention { .pinned(until: nil) }

    /// The number used in the index; `nil` means no row.
    var kind: Int? {
        switch self {
        case .cached: nil
        case .pinned: 1
        case .download: 2
        case .first: 3
        }
    }

    /// The end in seconds since 1970, as the index has it.
    var until: Double? { if case .pinned(let until?) = self { until.timeIntervalSince1970 } else { nil } }

    /// How much of it stays, as the index has it; `nil` for all.
    var amount: String? { if case .first(let amount) = self { amount.recorded } else { nil } }

    init(kind: Int?, until: Double?, amount: String? = nil) {
        switch kind {
        case 1: self = .pinned(until: until.map { Date(timeIntervalSince1970: $0) })
        case 2: self = .download
        // A damaged amount: the parts that stay are recorded apart.
        case 3: self = .first(amount.flatMap { PreloadAmount(recorded: $0) } ?? .all)
        default: self = .cached
        }
    }
}
