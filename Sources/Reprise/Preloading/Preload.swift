/// A resource that is stored because it may be played soon, as ``Preloads`` knows it.
public struct Preload: Sendable, Identifiable {
    /// What a preload does.
    public enum State: Sendable {
        /// Its turn has not come: others run, or one of its host does.
        case queued
        /// Bytes are being fetched, or looked up on disk.
        case running
        /// What was wanted was stored. If it is removed, it is fetched again when a list is set that has it; if it is
        /// evicted, at the earliest after 30 seconds.
        case done
        /// It ended with an error; bytes that had arrived are stored. It is tried again when a list is set that has it,
        /// at the earliest after 30 seconds; at once with another URL, other fields or another network policy, unless
        /// the origin cannot be reached or is busy.
        case failed(RepriseError)
    }

    /// The key of its entry; of a stream, that of the outermost playlist.
    public let key: CacheKey
    /// The URL that is asked for it.
    public let url: ResourceURL
    /// How much of it is wanted.
    public let amount: PreloadAmount
    /// What it does.
    public let state: State

    /// The key: there is one preload for each.
    public var id: CacheKey { key }
}
