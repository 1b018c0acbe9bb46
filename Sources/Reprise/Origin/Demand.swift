/// What bytes are wanted for: a class of demand, from lowest to highest.
///
/// At one origin a higher class goes first. It gets the next free connection, and while one of its readers waits for
/// bytes, fetches of lower classes neither send requests nor read. Within a class the file that has waited longest
/// goes first, and of one file the newest request.
public enum Demand: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// To be kept, with no deadline; at most as fast as ``Downloads/rate`` says.
    case download
    /// To be available when played later.
    case preload
    /// To be available where the player is about to seek.
    case seekingAhead
    /// To be played now.
    case playing

    /// Whether the first class gives way to the second.
    public static func < (first: Demand, second: Demand) -> Bool { first.rawValue < second.rawValue }
}
