/// What a new reader of a generation starts with.
struct OpenedReader: Sendable {
    let id: FetchSchedule.ReaderID
    let start: Int64
    /// Exclusive; `nil` while the representation's length is unknown.
    let end: Int64?
    let information: ContentInformation
    let disposition: ReadDisposition
    /// Whether another reader's fetch will bring its first byte.
    let isCollapsed: Bool
}
