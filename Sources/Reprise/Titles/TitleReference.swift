/// Names a title by its first file: the file itself, or the outermost playlist of a stream.
package struct TitleReference: Sendable, Hashable {
    /// The key of the first file.
    package let key: CacheKey
    /// The URL of the first file.
    package let url: ResourceURL

    /// Names the title whose first file is at `url` and stored under `key`.
    package init(key: CacheKey, url: ResourceURL) { (self.key, self.url) = (key, url) }
}
