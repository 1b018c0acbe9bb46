import Playlists
import Reprise

/// The representations of an MPD that a selection means.
struct DASHSelection {
    /// The representations, period by period.
    private(set) var paths: [MPD.Path] = []

    private enum Kind { case video, audio, subtitles, other }

    /// Throws ``RepriseError`` with code `notDownloadable` if the MPD has nothing of what is wanted, is live or
    /// protected.
    init(_ mpd: MPD, by selection: StreamSelection) throws(RepriseError) {
        guard mpd.root == .presentation, !mpd.isDynamic else { throw PlaylistPlanner.isLive }
        for (period, value) in mpd.periods.enumerated() {
            guard value.remote == nil, !value.adaptationSets.contains(where: { $0.remote != nil }) else {
                throw RepriseError(.notDownloadable, "Parts of the MPD lie elsewhere (xlink), which is not followed.")
            }
            let sets = value.adaptationSets.indices.filter { !value.adaptationSets[$0].representations.isEmpty }
            let kinds = Dictionary(grouping: sets) { Self.kind(of: value.adaptationSets[$0]) }
            // One picture, of all sets: they differ in codecs as a rule.
            try add(kinds[.video] ?? [], of: value, period: period, by: selection)
            let sound = kinds[.audio] ?? []
            for set in try Self.choice(
                of: sound, of: value, by: selection.audio == .none ? .preset : selection.audio, kind: .audio)
            { try add([set], of: value, period: period, by: StreamSelection()) }
            for set in try Self.choice(
                of: kinds[.subtitles] ?? [], of: value, by: selection.subtitles, kind: .subtitles)
            { try add([set], of: value, period: period, by: StreamSelection()) }
            // Both in one, or what no attribute tells apart.
            if kinds[.video] == nil, kinds[.audio] == nil {
                try add(kinds[.other] ?? [], of: value, period: period, by: selection)
            }
        }
        guard !paths.isEmpty else { throw RepriseError(.notDownloadable, "The MPD names no representation.") }
    }

    private static func kind(of set: AdaptationSet) -> Kind {
        switch set.medium {
        case "video": return .video
        case "audio": return .audio
        case "text", "application": return .subtitles
        default: return .other
        }
    }

    private static func choice(
        of sets: [Int], of period: Period, by languages: StreamSelection.Languages, kind: Kind
    ) throws(RepriseError) -> [Int] {
        // No attribute marks a default: of sound it is the first, of subtitles none.
        let tracks = sets.enumerated().map { number, set in
            LanguageTrack(
                language: period.adaptationSets[set].language, isPreset: kind == .audio && number == 0)
        }
        return try LanguageTrack.choice(
            of: tracks, by: languages, word: kind == .audio ? "sound" : "subtitles", needsOne: kind == .audio
        ).map { sets[$0] }
    }

    /// Adds the representation of one of `sets` that `selection` means.
    private mutating func add(
        _ sets: [Int], of period: Period, period number: Int, by selection: StreamSelection
    ) throws(RepriseError) {
        guard !sets.isEmpty else { return }
        var all: [MPD.Path] = []
        var qualities: [TrackQuality] = []
        for set in sets {
            for (index, representation) in period.adaptationSets[set].representations.enumerated() {
                qualities.append(
                    TrackQuality(
                        index: all.count, height: representation.attributes.height,
                        bandwidth: representation.bandwidth, codecs: representation.attributes.codecs))
                all.append(MPD.Path(period: number, adaptationSet: set, representation: index))
            }
        }
        let path = all[try TrackQuality.choice(of: qualities, by: selection)]
        guard !period.adaptationSets[path.adaptationSet].isProtected else { throw PlaylistPlanner.isProtected }
        paths.append(path)
    }
}
