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
        variants.compactMap { variant in
            let own = variant.link.flatMap(share)
            let groups = [(Rendition.Kind.audio, variant.audioGroup), (.video, variant.videoGroup)].map { kind, id in
                renditions.filter { id != nil && $0.kind == kind && $0.groupID == id }
            }
            // A rendition without a playlist of its own is part of the variant's.
            var needed = groups.filter { !$0.isEmpty }.map { group in
                group.compactMap { $0.link.map(share) ?? own }.max()
            }
            let hasAllApart = groups.allSatisfy { group in group.contains { $0.link != nil } }
            if !hasAllApart { needed.append(own) }
            return mean(of: needed)
        }.max()
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
            for kinds: [StreamTrack.Kind] in [[.video, .audio], [.media]] {
                let found = kinds.filter { shares.keys.contains($0) }
                if !found.isEmpty { return found }
            }
            return Array(shares.keys)
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
