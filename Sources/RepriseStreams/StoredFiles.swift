import ByteRanges
import HTTPSemantics
import Playlists
package import Reprise

/// The files of a cache, found by the URLs that playlists name.
package struct StoredFiles {
    private let inspector: CacheInspector
    private var policy: CacheKeyPolicy
    private let byKey: [String: CacheEntry]
    /// Whether the other files are looked up one by one.
    private let looksUp: Bool
    /// Of a map that claims to be longer, this many bytes are read.
    private static let longestMap: Int64 = 1 << 20

    /// The files that `inspector` sees, named by `policy`.
    ///
    /// Throws ``RepriseError`` with code `storageUnavailable`.
    package init(_ inspector: CacheInspector, policy: CacheKeyPolicy = .url) throws(RepriseError) {
        self.init(inspector, policy: policy, loaded: try inspector.entries(), looksUp: false)
    }

    /// The same, of which only the files of the title of `key` are in memory.
    init(_ inspector: CacheInspector, policy: CacheKeyPolicy, title key: CacheKey) throws(RepriseError) {
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
        let key = policy.key(for: url).inPartition(partition)
        if let entry = byKey[key.text] { return entry }
        // What cannot be read counts as not stored, as everywhere.
        return looksUp ? (try? inspector.entries(of: key))?.first : nil
    }

    /// The entry under `key`; `nil` if there is none.
    func entry(under key: CacheKey) throws(RepriseError) -> CacheEntry? {
        try inspector.entries(of: key).first { $0.key == key }
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

    /// Passes the stored parts of `entry` to `consume`; see ``CacheInspector/readStored(_:_:)``.
    func read(_ entry: CacheEntry, _ consume: (Int64, [UInt8]) throws -> Void) throws -> ByteRangeSet {
        try inspector.readStored(entry, consume)
    }

    /// The stored bytes of `extent` of `entry`, which is as short as a map.
    func bytes(_ extent: ByteExtent, of entry: CacheEntry) throws -> [UInt8] {
        struct End: Error {}
        var range = 0..<Self.longestMap
        if case .range(let bytes) = extent {
            range = bytes.lowerBound..<min(bytes.upperBound, bytes.lowerBound + Self.longestMap)
        }
        var result: [UInt8] = []
        do {
            _ = try read(entry) { position, bytes in
                guard position < range.upperBound else { throw End() }
                let start = max(0, range.lowerBound - position)
                result += bytes.dropFirst(Int(start)).prefix(Int(range.upperBound - max(position, range.lowerBound)))
            }
        } catch is End {}
        return result
    }

    /// The share of `extent` that is stored of `entry`, and its bytes.
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
        guard !range.isEmpty, let spans = try? inspector.storedRanges(of: entry).spans(in: range) else { return (0, 0) }
        let count = spans.reduce(0) { $0 + $1.upperBound - $1.lowerBound }
        return (Double(count) / Double(range.upperBound - range.lowerBound), count)
    }

    private static func mayBePlaylist(_ entry: CacheEntry) -> Bool {
        let name = entry.url.lastPathComponent
        return PlaylistFormat.isDeclared(
            by: MediaType(entry.information.mediaType)?.essence, name: name) || !entry.url.namesMedia
    }

    /// The key without what tells variants apart.
    private static func resource(_ key: CacheKey) -> String { String(key.text.prefix { $0 != "\n" }) }
}
