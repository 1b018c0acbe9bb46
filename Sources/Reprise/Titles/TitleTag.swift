/// What the titles with one tag occupy together, and how much that may be.
///
/// Files that several of them share count once.
public struct TitleTag: Sendable, Identifiable, Equatable {
    /// The tag.
    public let name: String
    /// Most bytes on disk that its titles may occupy; `nil` for no limit of their own.
    public let limit: Int64?
    /// Number of titles with the tag.
    public let titleCount: Int
    /// Bytes of media on disk.
    public let storedBytes: Int64
    /// Bytes on disk, in the file system's blocks; the limit is compared with these.
    public let allocatedBytes: Int64
    /// Those of them that are pinned, downloads or kept beginnings, and are never evicted.
    public let keptBytes: Int64

    /// The tag: there is one value for each.
    public var id: String { name }
}
