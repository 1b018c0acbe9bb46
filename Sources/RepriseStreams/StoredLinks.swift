import ByteRanges
import Playlists
import Reprise

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
