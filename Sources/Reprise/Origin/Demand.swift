/// What bytes are wanted for: a class of demand, from the lowest to the highest.
///
/// At one origin a higher class goes first. It gets the next free connection, and a fetch of a lower class neither asks nor
/// reads while a reader of a higher class waits for bytes. Within a class the newest request goes first.
public enum Demand: Int, Sendable, Hashable, Comparable, CaseIterable {
    /// To be kept, at any time.
    case download
    /// To be there when it is played later.
    case preload
    /// To be there where the player is about to seek.
    case seekingAhead
    /// To be played now.
    case playing

    /// Whether the first class gives way to the second.
    public static func < (first: Demand, second: Demand) -> Bool { first.rawValue < second.rawValue }
}
