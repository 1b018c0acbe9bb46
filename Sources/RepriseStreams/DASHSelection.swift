import Playlists
import Reprise

/// The representations of an MPD that a selection means.
struct DASHSelection {
    /// The representations, period by period.
    private(set) var paths: [MPD.Path] = []

    /// Throws ``RepriseError`` with code `notDownloadable` if the MPD has nothing of what is wanted, is live or
    /// protected.
    init(_ mpd: MPD, by selection: StreamSelection) throws(RepriseError) {
        guard mpd.root == .presentation, !mpd.isDynamic else { throw PlaylistPlanner.isLive }
        for (period, value) in mpd.periods.enumerated() {
            guard value.remote == nil, !value.adaptationSets.contains(where: { $0.remote != nil }) else {
                throw RepriseError(.notDownloadable, "Parts of the MPD lie elsewhere (xlink), which is not followed.")
            }
            let sets = value.adaptationSets.indices.filter { !value.adaptationSets[$0].representations.isEmpty }
            let kinds = Dictionary(grouping: sets) { TrackKind(of: value.adaptationSets[$0]) }
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
        try Self.check(selection.audio, in: mpd, kind: .audio)
        try Self.check(selection.subtitles, in: mpd, kind: .subtitles)
        guard !paths.isEmpty else { throw RepriseError(.notDownloadable, "The MPD names no representation.") }
    }

    /// The sets among `sets` of a period that `languages` means.
    ///
    /// A period that lacks a language is without it, and sound in none of the languages is the first sound there is:
    /// films with subtitles or several voices are interrupted by advertisements in one language.
    private static func choice(
        of sets: [Int], of period: Period, by languages: StreamSelection.Languages, kind: TrackKind
    ) throws(RepriseError) -> [Int] {
        let tracks = Self.tracks(sets, of: period, kind: kind)
        var languages = languages
        if case .only(let wanted) = languages, !wanted.isEmpty {
            let there = wanted.filter { tag in tracks.contains { $0.speaks(tag) } }
            languages = there.isEmpty ? .preset : .only(there)
        }
        return try LanguageTrack.choice(
            of: tracks, by: languages, word: kind.word, needsOne: kind == .audio
        ).map { sets[$0] }
    }

    /// Throws if a language that `languages` names is in no period.
    private static func check(
        _ languages: StreamSelection.Languages, in mpd: MPD, kind: TrackKind
    ) throws(RepriseError) {
        let tracks = mpd.periods.flatMap { period in
            let sets = period.adaptationSets.indices.filter { index in
                let set = period.adaptationSets[index]
                return TrackKind(of: set) == kind && !set.representations.isEmpty
            }
            return Self.tracks(sets, of: period, kind: kind)
        }
        _ = try LanguageTrack.choice(of: tracks, by: languages, word: kind.word, needsOne: kind == .audio)
    }

    private static func tracks(_ sets: [Int], of period: Period, kind: TrackKind) -> [LanguageTrack] {
        // No attribute marks a default: of sound it is the first, of subtitles none.
        sets.enumerated().map { number, set in
            LanguageTrack(language: period.adaptationSets[set].language, isPreset: kind == .audio && number == 0)
        }
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

/// What an adaptation set carries.
enum TrackKind {
    case video, audio, subtitles
    /// Both in one, or what no attribute tells apart.
    case other

    init(of set: AdaptationSet) {
        switch set.medium {
        case "video": self = .video
        case "audio": self = .audio
        case "text", "application": self = .subtitles
        default: self = .other
        }
    }

    /// The word for it in messages about languages.
    var word: String { self == .audio ? "sound" : "subtitles" }
}
