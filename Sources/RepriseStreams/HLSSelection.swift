import Playlists
import Reprise

/// The variant and the renditions of a multivariant playlist that a selection means.
struct HLSSelection {
    /// Links to their playlists, as indices in ``HLSPlaylist/links``; the variant first.
    private(set) var links: [Int] = []
    /// Bits per second of the variant, as the playlist says.
    let bandwidth: Int64?

    /// Throws ``RepriseError`` with code `notDownloadable` if the playlist has nothing of what is wanted.
    init(_ list: HLSPlaylist, by selection: StreamSelection) throws(RepriseError) {
        let playlist = list.multivariant
        let qualities = playlist.variants.indices.filter { playlist.variants[$0].link != nil }.map { index in
            let variant = playlist.variants[index]
            return TrackQuality(
                index: index, height: variant.resolution?.height, bandwidth: variant.bandwidth, codecs: variant.codecs)
        }
        let variant = playlist.variants[try TrackQuality.choice(of: qualities, by: selection)]
        bandwidth = variant.averageBandwidth ?? variant.bandwidth
        if let link = variant.link { links.append(link) }
        try add(playlist.renditions.filter { $0.kind == .video && $0.groupID == variant.videoGroup }, .preset, .video)
        try add(
            playlist.renditions.filter { $0.kind == .audio && $0.groupID == variant.audioGroup },
            selection.audio == .none ? .preset : selection.audio, .audio)
        try add(
            playlist.renditions.filter { $0.kind == .subtitles && $0.groupID == variant.subtitlesGroup },
            selection.subtitles, .subtitles)
    }

    private mutating func add(
        _ group: [Rendition], _ languages: StreamSelection.Languages, _ kind: Rendition.Kind
    ) throws(RepriseError) {
        let tracks = group.map { LanguageTrack(language: $0.language, isPreset: $0.isDefault) }
        let chosen = try LanguageTrack.choice(
            of: tracks, by: languages, word: kind == .subtitles ? "subtitles" : "sound", needsOne: kind != .subtitles)
        for link in chosen.compactMap({ group[$0].link }) where !links.contains(link) { links.append(link) }
    }
}
