package import Reprise

/// The streams of a cache, and which files belong to them.
///
/// A playlist that another one names is no stream of its own.
package struct StreamTable: Sendable {
    private var streams: [CacheKey: StreamOutline] = [:]
    private var members: Set<CacheKey> = []

    /// A table without streams.
    package init() {}

    /// The streams whose playlists are among `files`.
    package init(_ files: StoredFiles) {
        let outlines = files.entries.compactMap { StreamOutline($0, in: files) }
        for outline in outlines { members.formUnion(outline.members.keys.filter { $0 != outline.entry.key }) }
        for outline in outlines where !members.contains(outline.entry.key) { streams[outline.entry.key] = outline }
        // Playlists that name each other in a circle stay on their own.
        members = streams.values.reduce(into: []) { $0.formUnion($1.members.keys) }
    }

    /// The stream whose outermost playlist is the entry under `key`.
    package subscript(key: CacheKey) -> StreamOutline? { streams[key] }

    /// Whether the entry under `key` belongs to a stream.
    package func contains(_ key: CacheKey) -> Bool { members.contains(key) }
}
