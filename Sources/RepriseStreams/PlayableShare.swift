import Playlists

/// The stored share of what plays together: a picture, and the sound that it needs.
///
/// It is the mean of their shares, from 0 to 1, so that it is 1 only if each of them is stored as a whole. `nil` stands
/// for what is not known.
enum PlayableShare {
    /// The share of the variant of which most is stored, each with the renditions that it needs.
    ///
    /// Of a group of sound, or of pictures, one rendition is enough. `share` is that of the playlist behind a link.
    static func best(of variants: [Variant], with renditions: [Rendition], share: (Int) -> Double?) -> Double? {
        // Once for each group: a hostile playlist has many variants, and many renditions in one group.
        var groups: [GroupKey: Group] = [:]
        for rendition in renditions {
            guard let id = rendition.groupID else { continue }
            groups[GroupKey(kind: rendition.kind, id: id), default: Group()].note(rendition, share: share)
        }
        return variants.compactMap { variant in
            let own = variant.link.flatMap(share)
            let ids = [(Rendition.Kind.audio, variant.audioGroup), (.video, variant.videoGroup)]
            let chosen = ids.map { kind, id in id.flatMap { groups[GroupKey(kind: kind, id: $0)] } }
            var needed = chosen.compactMap(\.self).map { $0.share(in: own) }
            if !chosen.allSatisfy({ $0?.hasApart == true }) { needed.append(own) }
            return mean(of: needed)
        }.max()
    }

    private struct GroupKey: Hashable {
        let kind: Rendition.Kind
        let id: String
    }

    /// The renditions of one group.
    private struct Group {
        /// The greatest share of those with a playlist of their own.
        private var best: Double?
        private var hasInline = false
        /// Whether one has a playlist of its own.
        private(set) var hasApart = false

        mutating func note(_ rendition: Rendition, share: (Int) -> Double?) {
            if let link = rendition.link {
                hasApart = true
                best = [best, share(link)].compactMap(\.self).max()
            } else {
                hasInline = true
            }
        }

        /// The share of the best one; a rendition without a playlist of its own is part of the variant's.
        func share(in own: Double?) -> Double? { [best, hasInline ? own : nil].compactMap(\.self).max() }
    }

    /// One period of an MPD.
    struct Period {
        private var shares: [StreamTrack.Kind: Double?] = [:]
        private var durations: [StreamTrack.Kind: Int64] = [:]

        /// Notes a representation.
        mutating func note(_ track: StreamTrack) {
            shares[track.kind] = .some([shares[track.kind] ?? nil, track.storedShare].compactMap { $0 }.max())
            durations[track.kind] = max(durations[track.kind] ?? 0, track.duration)
        }

        /// Picture and sound, or, without both, what is there.
        private var needed: [StreamTrack.Kind] {
            // A set that does not say what it is may have both, or be the picture beside a set of sound.
            let picture = shares.keys.contains(.video) ? StreamTrack.Kind.video : .media
            let found = [picture, .audio].filter { shares.keys.contains($0) }
            return found.isEmpty ? Array(shares.keys) : found
        }

        fileprivate var share: Double? { mean(of: needed.map { shares[$0] ?? nil }) }

        /// In milliseconds; one of unknown length counts as a second, as a segment does.
        fileprivate var duration: Double {
            let longest = needed.compactMap { durations[$0] }.max() ?? 0
            return Double(longest > 0 ? longest : 1000)
        }
    }

    /// The share of periods that play one after the other.
    static func whole(of periods: [Period]) -> Double? {
        guard periods.contains(where: { $0.share != nil }) else { return nil }
        let stored = periods.reduce(0) { $0 + ($1.share ?? 0) * $1.duration }
        return stored / periods.reduce(0) { $0 + $1.duration }
    }

    private static func mean(of shares: [Double?]) -> Double? {
        guard shares.contains(where: { $0 != nil }) else { return nil }
        return shares.reduce(0) { $0 + ($1 ?? 0) } / Double(shares.count)
    }
}
