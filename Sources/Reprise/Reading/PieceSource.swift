/// Where the bytes of a piece came from.
public enum PieceSource: String, Sendable, CaseIterable {
    /// They were on disk before the read began.
    case store
    /// Another reader's fetch brought them during the read.
    case joined
    /// This read's own fetch brought them.
    case origin
}
