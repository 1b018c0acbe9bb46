import ByteRanges
import HTTPSemantics
import Playlists
package import Reprise

/// The files of a cache, found by the URLs that playlists name.
package struct StoredFiles {
    private let inspector: CacheInspector
    private var policy: CacheKeyPolicy
    private let byKey: [String: CacheEntry]
    /// Whether files that are not in memory are looked up in the index.
    private let looksUp: Bool
    /// Of a map that claims to be longer, this many bytes are read.
    static let longestMap: Int64 = 1 << 20

    /// The files that `inspector` sees, named by `policy`.
    ///
    /// Throws ``RepriseError`` with code `storageUnavailable`.
    package init(_ inspector: CacheInspector, policy: CacheKeyPolicy = .url) throws(RepriseError) {
        self.init(inspector, policy: policy, loaded: try inspector.entries(), looksUp: false)
    }

    /// The same, of which only the files of the title of `key` are in memory.
    package init(_ inspector: CacheInspector, policy: CacheKeyPolicy, title key: CacheKey) throws(RepriseError) {
        self.init(inspector, policy: policy, loaded: try inspector.entries(ofTitle: key))
    }

    /// The same, of which only `loaded` is in memory; other files are looked up when a playlist names them.
    init(_ inspector: CacheInspector, policy: CacheKeyPolicy, loaded: [CacheEntry], looksUp: Bool = true) {
        self.inspector = inspector
        self.policy = policy
        self.looksUp = looksUp
        // The most recently used comes first, also of several variants of one URL.
        byKey = Dictionary(loaded.map { (Self.resource($0.key), $0) }) { first, _ in first }
    }

    /// The same files, named as the download that begins with `first` names them, if it is recorded how.
    func named(asIn first: CacheKey) -> StoredFiles { named(by: (try? inspector.keyRule(ofDownload: first)) ?? nil) }

    /// The same files, named by `rule` if there is one.
    func named(by rule: KeyRule?) -> StoredFiles {
        guard let rule else { return self }
        var files = self
        files.policy = rule.policy
        return files
    }

    /// The files in memory, in no order.
    package var entries: some Collection<CacheEntry> { byKey.values }

    /// The file stored for `url` in a partition.
    package func entry(at url: ResourceURL, in partition: String? = nil) -> CacheEntry? {
        entries(at: [url], in: partition)[url]
    }

    /// The files stored for `urls` in a partition; files that are not in memory are looked up in one index read.
    func entries(at urls: some Sequence<ResourceURL>, in partition: String?) -> [ResourceURL: CacheEntry] {
        var (found, missing) = ([ResourceURL: CacheEntry](), [String: [ResourceURL]]())
        for url in Set(urls) {
            let key = policy.key(for: url).inPartition(partition)
            if let entry = byKey[key.text] {
                found[url] = entry
            } else if looksUp {
                missing[key.text, default: []].append(url)
            }
        }
        guard !missing.isEmpty else { return found }
        // Entries that cannot be read count as not stored, as elsewhere.
        for entry in (try? inspector.entries(of: missing.keys.map { CacheKey($0) })) ?? [] {
            for url in missing[Self.resource(entry.key)] ?? [] where found[url] == nil { found[url] = entry }
        }
        return found
    }

    /// The entry under `key`; `nil` if there is none.
    func entry(under key: CacheKey) throws(RepriseError) -> CacheEntry? {
        try inspector.entries(of: key).first { $0.key == key }
    }

    /// The playlist of `entry` and the base URL of its links.
    ///
    /// Returns `nil` if it is incomplete, cannot be a playlist, or cannot be read. It imports `variables` from its
    /// parent playlist. Throws ``PlaylistError`` if parsing fails. Both playlists and errors are cached.
    func playlist(
        of entry: CacheEntry, importing variables: Variables? = nil
    ) throws(PlaylistError) -> (playlist: Playlist, base: URIReference)? {
        let context = Self.context(of: entry, importing: variables)
        let base = context.url ?? URIReference("")
        let key = Self.key(of: entry, context)
        if let known = RememberedPlaylists.shared[key] { return (try known.get(), base) }
        guard let bytes = playlistBytes(of: entry) else { return nil }
        return (try RememberedPlaylists.shared.playlist(for: key, reading: bytes), base)
    }

    /// Caches `error` for the playlist of `entry`, because evaluating its links exceeded a limit.
    func note(_ error: PlaylistError, for entry: CacheEntry) {
        RememberedPlaylists.shared.note(.failure(error), for: Self.key(of: entry, Self.context(of: entry)))
    }

    private static func context(of entry: CacheEntry, importing variables: Variables? = nil) -> HLSContext {
        HLSContext(
            url: URIReference((entry.information.finalURL ?? entry.url).description), imported: variables)
    }

    private static func key(of entry: CacheEntry, _ context: HLSContext) -> RememberedPlaylists.Key {
        RememberedPlaylists.Key(generation: entry.information.generation, of: entry.key.text, context: context)
    }

    /// The bytes of `entry` if it is complete and may be a playlist; `nil` otherwise.
    func playlistBytes(of entry: CacheEntry) -> [UInt8]? {
        guard entry.isComplete, entry.storedBytes <= PlaylistLimits().size, Self.mayBePlaylist(entry) else {
            return nil
        }
        var bytes: [UInt8] = []
        do { try inspector.read(entry) { bytes += $0 } } catch { return nil }
        return bytes
    }

    /// Whether all is stored of `entry` that a stream has of it as `file`.
    func isComplete(_ entry: CacheEntry, as file: StreamFile) throws(RepriseError) -> Bool {
        guard file.ranges != nil, !entry.isComplete else { return entry.isComplete }
        let bytes = file.bytes(ofLength: entry.information.completeLength)
        return try bytes?.subtracting(storedRanges(of: entry)).isEmpty == true
    }

    /// The ranges that are stored of `entry`.
    func storedRanges(of entry: CacheEntry) throws(RepriseError) -> ByteRangeSet {
        try inspector.storedRanges(of: entry)
    }

    /// The stored ranges of `entries`, from one index read.
    func storedRanges(of entries: [CacheEntry]) -> [CacheKey: ByteRangeSet] {
        // Entries that cannot be read count as not stored, as elsewhere.
        entries.isEmpty ? [:] : (try? inspector.storedRanges(of: Set(entries.map(\.key)))) ?? [:]
    }

    /// Passes the stored parts of `entry` to `consume`; see ``CacheInspector/readStored(_:_:)``.
    func read(_ entry: CacheEntry, _ consume: (Int64, [UInt8]) throws -> Void) throws -> ByteRangeSet {
        try inspector.readStored(entry, consume)
    }

    /// The stored bytes at the beginning of `extent` of `entry`, at most `count` of them; `nil` if there are none.
    func beginning(of extent: ByteExtent, in entry: CacheEntry, atMost count: Int64) throws -> [UInt8]? {
        let whole: Range<Int64> =
            switch extent {
            case .whole, .unplaced: 0..<Int64.max
            case .from(let start): start..<Int64.max
            case .range(let range): range
            }
        let start = whole.lowerBound
        let stored = try storedRanges(of: entry).storedPrefix(from: start)
        let range = start..<max(start, min(whole.upperBound, stored.upperBound, start + count))
        var result: [UInt8] = []
        _ = try inspector.readStored(entry, in: range) { position, bytes in
            let skipped = max(0, range.lowerBound - position)
            result += bytes.dropFirst(Int(skipped)).prefix(Int(range.upperBound - max(position, range.lowerBound)))
        }
        return result.isEmpty ? nil : result
    }

    private static func mayBePlaylist(_ entry: CacheEntry) -> Bool {
        let name = entry.url.lastPathComponent
        return PlaylistFormat.isDeclared(
            by: MediaType(entry.information.mediaType)?.essence, name: name) || !entry.url.namesMedia
    }

    /// The key without what tells variants apart.
    private static func resource(_ key: CacheKey) -> String { String(key.text.prefix { $0 != "\n" }) }
}

/// The stored files that links of playlists refer to, looked up together.
struct StoredLinks {
    private var entries: [LinkTarget: CacheEntry] = [:]
    /// Stored ranges of partially cached files, if a link needs a part of one.
    private var ranges: [CacheKey: ByteRangeSet] = [:]

    /// Looks up the files for `links` in two index reads, regardless of the number of links.
    init(_ links: some Sequence<(target: LinkTarget, extent: ByteExtent)>, of partition: String?, in files: StoredFiles)
    {
        var (urls, parts) = ([LinkTarget: ResourceURL](), Set<LinkTarget>())
        for (target, extent) in links {
            guard case .fetchable(let uri) = target else { continue }
            switch extent {
            case .range, .from: parts.insert(target)
            case .whole, .unplaced: break
            }
            if urls[target] == nil { urls[target] = try? ResourceURL(uri.text) }
        }
        let found = files.entries(at: urls.values, in: partition)
        entries = urls.compactMapValues { found[$0] }
        ranges = files.storedRanges(of: parts.compactMap { entries[$0] }.filter { !$0.isComplete })
    }

    /// The stored file at `target`.
    func entry(at target: LinkTarget) -> CacheEntry? { entries[target] }

    /// The stored fraction of `extent` in `entry`, and the number of stored bytes.
    func stored(_ extent: ByteExtent, of entry: CacheEntry) -> (share: Double, byteCount: Int64) {
        let length = entry.information.completeLength
        let range: Range<Int64>
        switch extent {
        case .whole, .unplaced:
            guard let length, length > 0 else { return (entry.isComplete ? 1 : 0, entry.storedBytes) }
            return (Double(entry.storedBytes) / Double(length), entry.storedBytes)
        case .from(let start): range = start..<max(start, length ?? start)
        case .range(let bytes): range = bytes
        }
        guard !range.isEmpty else { return (0, 0) }
        let spans =
            entry.isComplete
            ? [range.clamped(to: 0..<entry.storedBytes)] : ranges[entry.key].map { Array($0.spans(in: range)) } ?? []
        let count = spans.reduce(0) { $0 + $1.upperBound - $1.lowerBound }
        return (Double(count) / Double(range.upperBound - range.lowerBound), count)
    }
}
