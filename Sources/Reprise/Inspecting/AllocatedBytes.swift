/// What a cache occupies on disk, in the file system's blocks, as `du` shows.
public struct AllocatedBytes: Sendable, Hashable {
    /// Bytes that the media occupy; these count towards the limit.
    public let media: Int64
    /// Bytes that the index occupies.
    public let index: Int64

    /// Bytes that media and index occupy together.
    public var total: Int64 { media + index }
}
