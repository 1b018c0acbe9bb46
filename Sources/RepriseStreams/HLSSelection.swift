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
        let audio = selection.audio == .none ? .preset : selection.audio
        let fitting = try Self.fitting(qualities, of: playlist, audio: audio, by: selection)
        let variant = playlist.variants[try TrackQuality.choice(of: fitting, by: selection)]
        bandwidth = variant.averageBandwidth ?? variant.bandwidth
        if let link = variant.link { links.append(link) }
        try add(playlist.renditions.filter { $0.kind == .video && $0.groupID == variant.videoGroup }, .preset, .video)
        try add(
            playlist.renditions.filter { $0.kind == .audio && $0.groupID == variant.audioGroup },
            audio, .audio)
        try add(
            playlist.renditions.filter { $0.kind == .subtitles && $0.groupID == variant.subtitlesGroup },
            selection.subtitles, .subtitles)
    }

    /// Those of `qualities` that have the codec that is wanted, and sound and subtitles in the languages.
    ///
    /// Throws ``RepriseError`` with code `notDownloadable` if there are none.
    private static func fitting(
        _ qualities: [TrackQuality], of playlist: MultivariantPlaylist, audio: StreamSelection.Languages,
        by selection: StreamSelection
    ) throws(RepriseError) -> [TrackQuality] {
        let rest = try TrackQuality.having(selection.codec, among: qualities)
        let sound = WantedLanguages(audio, of: .audio, in: playlist)
        let subtitles = WantedLanguages(selection.subtitles, of: .subtitles, in: playlist)
        let fitting = rest.filter { quality in
            let variant = playlist.variants[quality.index]
            return sound.areIn(variant.audioGroup) && subtitles.areIn(variant.subtitlesGroup)
        }
        guard fitting.isEmpty, !rest.isEmpty else { return fitting }
        try sound.check()
        try subtitles.check()
        throw RepriseError(
            .notDownloadable,
            "The stream has these languages, but no quality\(selection.codec.map { " in \($0)" } ?? "") has all of them."
        )
    }

    private mutating func add(
        _ group: [Rendition], _ languages: StreamSelection.Languages, _ kind: Rendition.Kind
    ) throws(RepriseError) {
        let chosen = try WantedLanguages.choice(of: group, by: languages, kind)
        var known = Set(links)
        for link in chosen.compactMap({ group[$0].link }) where known.insert(link).inserted { links.append(link) }
    }
}

/// The groups of one kind that have the languages that are wanted.
private struct WantedLanguages {
    private let languages: StreamSelection.Languages
    private let kind: Rendition.Kind
    private let renditions: [Rendition]
    /// The groups that there are, and whether each has all the languages.
    private var groups: [String: Bool] = [:]

    init(_ languages: StreamSelection.Languages, of kind: Rendition.Kind, in playlist: MultivariantPlaylist) {
        (self.languages, self.kind) = (languages, kind)
        renditions = playlist.renditions.filter { $0.kind == kind && $0.groupID != nil }
        groups = Dictionary(grouping: renditions) { $0.groupID ?? "" }.mapValues { group in
            (try? Self.choice(of: group, by: languages, kind)) != nil
        }
    }

    /// Whether a variant has them whose renditions are in this group.
    func areIn(_ group: String?) -> Bool {
        guard case .only(let tags) = languages, !tags.isEmpty else { return true }
        if let group, let hasAll = groups[group] { return hasAll }
        // Sound that is part of the picture has no language to choose by: it is taken where no group has the languages.
        return kind != .subtitles && !groups.values.contains(true)
    }

    /// Throws ``RepriseError`` with code `notDownloadable` if no group has one of the languages.
    func check() throws(RepriseError) { _ = try Self.choice(of: renditions, by: languages, kind) }

    /// The indices of renditions in those languages.
    static func choice(
        of renditions: [Rendition], by languages: StreamSelection.Languages, _ kind: Rendition.Kind
    ) throws(RepriseError) -> [Int] {
        try LanguageTrack.choice(
            of: renditions.map { LanguageTrack(language: $0.language, isPreset: $0.isDefault) }, by: languages,
            word: kind == .subtitles ? "subtitles" : "sound", needsOne: kind != .subtitles)
    }
}
