/// What a generation promised to a new reader.
struct OpenedReader: Sendable {
    let id: GenerationMachine.ReaderID
    let start: Int64
    /// Exclusive; `nil` while the representation's length is unknown.
    let end: Int64?
    let information: ContentInformation
    let disposition: ReadDisposition
    /// Another reader's fetch will bring its first byte.
    let isCollapsed: Bool
}

/// How a read began, in the words of RFC 9211.
public enum ReadDisposition: String, Sendable {
    /// Everything was on disk.
    case hit
    /// Something was on disk; the holes are fetched.
    case partial
    /// Nothing of it was on disk, though other bytes of the representation are.
    case miss
    /// Nothing was known of the resource.
    case unknown
    /// It was stored but had to be asked about, and still holds.
    case validated
    /// The response must not or cannot be stored.
    case bypass
}
