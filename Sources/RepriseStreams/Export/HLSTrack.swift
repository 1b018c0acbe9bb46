import Playlists
import Reprise

/// A stored media playlist of HLS, and the stored files among those that it names.
struct HLSTrack {
    let list: HLSPlaylist
    /// What its relative links refer to.
    let base: URIReference
    /// The stored files, by the indices of their links.
    let entries: [Int: CacheEntry]
    /// The links of the maps and keys that segments need, of keys those that every player can use.
    let usedLinks: Set<Int>
    /// Why it cannot be exported; `nil` if all of it is stored.
    let shortfall: Shortfall?

    /// Looks up what `list` names.
    init(_ list: HLSPlaylist, base: URIReference, in extents: inout StoredExtents) throws(RepriseError) {
        (self.list, self.base) = (list, base)
        var entries: [Int: CacheEntry] = [:]
        var present: Set<Int> = []
        for (index, link) in list.links.enumerated() {
            let target = list.target(of: link, base: base)
            if let entry = try extents.entry(holding: link.extent, at: target) {
                entries[index] = entry
                present.insert(index)
            } else if target == .leftAlone(.scheme("data")) {
                present.insert(index)
            }
        }
        self.entries = entries
        let use = Use(of: list, base: base)
        usedLinks = use.maps.union(use.keys)
        shortfall = use.shortfall(present)
    }
}

/// What the segments of a media playlist need.
private struct Use {
    private let segments: [Segment]
    private let isLive: Bool
    /// Whether some of them are encrypted with keys that only a player's system can get.
    private var isProtected = false
    /// Links of maps and of keys.
    private(set) var maps: Set<Int> = []
    private(set) var keys: Set<Int> = []

    init(of list: HLSPlaylist, base: URIReference) {
        let media = list.media
        isLive = media.isLive
        segments = media.segments.filter { !$0.isGap }
        let used = Set(segments.compactMap(\.map))
        maps = Set(used.map { media.maps[$0].link })
        for set in Set(segments.map(\.keySet) + used.map { media.maps[$0].keySet }) {
            let encrypting = media.keySets[set].filter { media.keys[$0].method != .none }
            let open = encrypting.filter { media.keys[$0].opensEverywhere(in: list, base: base) }
            if open.isEmpty, !encrypting.isEmpty { isProtected = true }
            keys.formUnion(open.compactMap { media.keys[$0].link })
        }
    }

    /// What keeps it from being exported if only the links in `present` are stored.
    func shortfall(_ present: Set<Int>) -> Shortfall? {
        if isLive { return .live }
        if segments.isEmpty { return .empty }
        if isProtected { return .protected }
        let missing = segments.count { !present.contains($0.link) }
        let (missingKeys, missingMaps) = (keys.subtracting(present).count, maps.subtracting(present).count)
        guard missing + missingKeys + missingMaps > 0 else { return nil }
        return .missing(segments: missing, of: segments.count, keys: missingKeys, maps: missingMaps)
    }
}

extension Key {
    /// Whether it is a file of bytes, or stands in the playlist, so that every player can get it.
    fileprivate func opensEverywhere(in list: HLSPlaylist, base: URIReference) -> Bool {
        guard isIdentity, let link else { return false }
        switch list.target(of: list.links[link], base: base) {
        case .fetchable, .leftAlone(.scheme("data")): return true
        case .leftAlone: return false
        }
    }
}
