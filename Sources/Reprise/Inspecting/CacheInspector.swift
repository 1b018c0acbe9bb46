public import ByteRanges
public import Foundation

/// Reads a cache directory without opening the cache, even while another process, such as a running proxy, has it open.
///
/// Stored bytes are at most a second old; counts and last uses of hits at most a minute. Every call waits for the disk.
public struct CacheInspector: Sendable {
    private let directory: String
    private let index: Index?

    /// Opens the index of the cache in `directory`; a directory without an index counts as an empty cache.
    ///
    /// Throws ``RepriseError``: `storageUnavailable` when the index is damaged, of another format, or missing although
    /// there are media, `keyUnavailable` when `encryption` does not match the key the cache was made with.
    public init(directory: String, encryption: CacheEncryption? = nil) throws(RepriseError) {
        self.directory = directory
        let vault = try encryption.map { encryption throws(RepriseError) in Vault(key: try encryption.provider.key()) }
        index = try IndexDatabase.open(readOnly: directory, vault: vault).map { Index($0) }
        if index == nil, let reason = IndexDatabase.loss(in: directory, fileSystem: SystemFileSystem()) {
            throw RepriseError(
                .storageUnavailable,
                "The index of the cache in \(directory) cannot be used: \(reason). Without it, its media are useless. The "
                    + "next command that writes removes them, unless you put a copy of \(IndexDatabase.fileName) there first."
            )
        }
    }

    /// Opens the index of the cache in the directory at `directory`, a file URL.
    ///
    /// As ``init(directory:encryption:)-(String,_)``; throws `invalidArgument` for what is no file URL.
    public init(directory: URL, encryption: CacheEncryption? = nil) throws(RepriseError) {
        guard directory.isFileURL else {
            throw RepriseError(.invalidArgument, "Only a file URL can be a cache's directory.")
        }
        try self.init(directory: directory.path, encryption: encryption)
    }

    /// Reads beside an open cache, whose index is `index`.
    init(_ index: Index, directory: String) { (self.index, self.directory) = (index, directory) }

    /// The stored entries, most recently used first.
    public func entries() throws(RepriseError) -> [CacheEntry] { try index?.entries.all() ?? [] }

    /// How many entries there are, and what they occupy; reads no entry.
    package func totals() throws(RepriseError) -> (entries: Int, storedBytes: Int64, allocatedBytes: Int64) {
        guard let index else { return (0, 0, 0) }
        let usage = try index.entries.usage()
        return (try index.entries.count(), usage.stored, usage.allocated)
    }

    /// The stored entries that belong to no recorded title.
    package func untitledEntries() throws(RepriseError) -> [CacheEntry] {
        try index?.entries.all(isUntitled: true) ?? []
    }

    /// The stored entries that belong to the title of `key`.
    package func entries(ofTitle key: CacheKey) throws(RepriseError) -> [CacheEntry] {
        try index?.titles.files(of: key) ?? []
    }

    /// The stored entry of `key`, and those of its variants.
    package func entries(of key: CacheKey) throws(RepriseError) -> [CacheEntry] { try entries(of: [key]) }

    /// The stored entries of `keys` and their variants, most recently used first, in one index read.
    package func entries(of keys: some Collection<CacheKey>) throws(RepriseError) -> [CacheEntry] {
        try index?.entries.all(of: keys) ?? []
    }

    /// The first files of the titles that have one of the files under `keys`.
    package func titles(withFiles keys: Set<CacheKey>) throws(RepriseError) -> Set<CacheKey> {
        try index?.titles.keys(withFiles: keys) ?? []
    }

    /// The titles of which something is stored or that were named, the most recently used first.
    public func titles() throws(RepriseError) -> [Title] { try index?.titles.all() ?? [] }

    /// The title that begins with `key`, as in ``titles()``; `nil` if there is none.
    package func title(of key: CacheKey) throws(RepriseError) -> Title? { try index?.titles.title(of: key) }

    /// The tags of titles, and those that have a limit, in alphabetical order.
    public func tags() throws(RepriseError) -> [TitleTag] { try index?.titles.tags() ?? [] }

    /// The downloads, in their order: queued, paused or done.
    ///
    /// Streams are not known to be done here, because only their playlists tell. With `key`, only that download.
    package func downloads(of key: CacheKey? = nil) throws(RepriseError) -> [Download] {
        try (index?.downloads.all(of: key) ?? []).map { Download($0, stream: nil) }
    }

    /// The recorded rule by which the download of `key` derives the keys of a stream's files; `nil` if there is none.
    package func keyRule(ofDownload key: CacheKey) throws(RepriseError) -> KeyRule? {
        try index?.downloads.keyRule(ofDownload: key)
    }

    /// A pinned or downloading entry of which nothing is stored yet.
    package struct AwaitedEntry: Sendable {
        package let key: CacheKey
        package let url: ResourceURL
        package let retention: Retention

        fileprivate init(_ retained: RetentionStore.Retained) {
            (key, url, retention) = (retained.key, retained.url, retained.retention)
        }
    }

    /// Pinned and downloading entries of which nothing is stored yet, by URL.
    package func awaitedEntries() throws(RepriseError) -> [AwaitedEntry] {
        try (index?.retentions.awaited() ?? []).map { AwaitedEntry($0) }
            .sorted { $0.url.description < $1.url.description }
    }

    /// The pinned or downloading entry under `key` if nothing of it is stored yet.
    package func awaitedEntry(of key: CacheKey) throws(RepriseError) -> AwaitedEntry? {
        try index?.retentions.awaited(key).map { AwaitedEntry($0) }
    }

    /// The recorded ranges of `entry`.
    public func storedRanges(of entry: CacheEntry) throws(RepriseError) -> ByteRangeSet {
        try storedRanges(of: [entry.key])[entry.key] ?? ByteRangeSet()
    }

    /// The recorded ranges of the entries of `keys`, in one index read.
    package func storedRanges(of keys: some Collection<CacheKey>) throws(RepriseError) -> [CacheKey: ByteRangeSet] {
        try (index?.entries.generations(of: keys) ?? [:]).mapValues { ChunkLedger(blocks: $0.chunks).ranges }
    }

    /// The host that sent `entry`, if it is known to give each request another file, and when that was seen last.
    package func splicingHost(of entry: CacheEntry) throws(RepriseError) -> (host: String, lastSeen: Date)? {
        guard let index else { return nil }
        let host = (entry.information.finalURL ?? entry.url).authority.lowercased()
        let table = SplicingHostTable(try index.statistics.splicingHosts())
        let now = Int64(Date().timeIntervalSince1970)
        return table.date(of: index.statistics.name(ofHost: host), at: now).map {
            (host, Date(timeIntervalSince1970: TimeInterval($0)))
        }
    }

    /// Counts over the whole life of the directory.
    public func statistics() throws(RepriseError) -> CacheStatistics {
        CacheStatistics(totals: try index?.statistics.totals() ?? [:])
    }

    /// Bytes that the index occupies on the disk.
    public var indexBytes: Int64 { Store.indexBytes(directory, fileSystem: SystemFileSystem()) }

    /// The limit in bytes that was chosen last for the cache, or that of a cache for which none was.
    package func limit() throws(RepriseError) -> Int64 {
        try index?.database.recordedLimit() ?? MediaCache.Configuration().limit
    }

    /// Bytes that are free on the disk; `nil` if that is not known.
    package var freeBytes: Int64? { try? SystemFileSystem().freeBytes(at: directory) }

    /// Passes the stored bytes of `entry`, which must be complete, to `consume` in order, each part verified first.
    ///
    /// Throws ``RepriseError`` with code `notStored` and the range when something is missing or damaged; rethrows
    /// errors of `consume`.
    public func read(_ entry: CacheEntry, _ consume: ([UInt8]) throws -> Void) throws {
        var position: Int64 = 0
        let length = try readChunks(of: entry) { start, bytes in
            guard start == position, let bytes else { return false }
            try consume(bytes)
            position += Int64(bytes.count)
            return true
        }
        guard let length, position == length else {
            throw RepriseError(
                .notStored, "\(entry.url.redacted) is incomplete from byte \(position) on. Fetch it first.",
                range: position..<max(position, length ?? position))
        }
    }

    /// Passes the stored bytes of `entry`, each part with its position and verified first, to `consume` in order.
    ///
    /// Parts outside `range`, missing and damaged parts are left out. Returns the ranges that were passed. Throws as
    /// ``read(_:_:)``.
    package func readStored(
        _ entry: CacheEntry, in range: Range<Int64> = 0..<Int64.max,
        _ consume: (_ position: Int64, _ bytes: [UInt8]) throws -> Void
    ) throws -> ByteRangeSet {
        var ranges = ByteRangeSet()
        _ = try readChunks(of: entry, in: range) { position, bytes in
            guard let bytes, !bytes.isEmpty else { return true }
            try consume(position, bytes)
            ranges.insert(position..<position + Int64(bytes.count))
            return true
        }
        return ranges
    }

    /// Passes the recorded parts of `entry` to `body` in order, those that are damaged without bytes, until it returns
    /// false; returns the complete length.
    private func readChunks(
        of entry: CacheEntry, in range: Range<Int64> = 0..<Int64.max,
        _ body: (_ start: Int64, _ bytes: [UInt8]?) throws -> Bool
    ) throws -> Int64? {
        guard let index, let stored = try index.entries.generation(for: entry.key) else {
            throw RepriseError(.notStored, "Nothing is stored for \(entry.url.redacted).")
        }
        let name = DataFileName(hash: index.name(of: entry.key), generation: stored.record.id)
        let file: DataFile
        do throws(RepriseError) {
            file = try DataFile(path: name.path(in: directory), create: false, in: SystemFileSystem())
        } catch {
            guard error.isMissingFile else { throw error }
            throw RepriseError(
                .notStored, "Of \(entry.url.redacted) nothing is stored any more: its file is gone. Fetch it again.")
        }
        let proof = ChunkProof(stored.record, in: index)
        let chunks = stored.chunks.values.joined().filter { $0.range.overlaps(range) }
        for chunk in chunks.sorted(by: { $0.start < $1.start }) {
            guard try body(chunk.start, proof.bytes(of: chunk, in: file)) else { break }
        }
        return stored.record.completeLength
    }
}
