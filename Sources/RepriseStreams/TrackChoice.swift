import Reprise

/// What a quality is chosen by: a variant of HLS, or a representation of DASH.
struct TrackQuality {
    let index: Int
    let height: Int64?
    let bandwidth: Int64?
    let codecs: String?

    /// The ``index`` of the one that `selection` means; the first of several that are alike.
    ///
    /// Throws ``RepriseError`` with code `notDownloadable` if none has the codec.
    static func choice(of all: [TrackQuality], by selection: StreamSelection) throws(RepriseError) -> Int {
        var rest = try having(selection.codec, among: all)
        // Variants of sound alone stand beside those with a picture.
        let isAnyMeant = selection.quality == .smallest || selection.quality == .first
        if rest.contains(where: { $0.height != nil }), !isAnyMeant {
            rest.removeAll { $0.height == nil }
        }
        let chosen: TrackQuality?
        switch selection.quality {
        case .first: chosen = rest.first
        case .best: chosen = rest.best { $0.rank }
        case .smallest: chosen = rest.best { (-($0.bandwidth ?? .max), -($0.height ?? 0)) }
        case .height(let limit):
            let fitting = rest.filter { $0.height ?? 0 <= limit }
            chosen = fitting.best { $0.rank } ?? rest.best { (-($0.height ?? 0), $0.bandwidth ?? 0) }
        case .bandwidth(let limit):
            let fitting = rest.filter { $0.bandwidth ?? .max <= limit }
            chosen = fitting.best { ($0.bandwidth ?? 0, $0.height ?? 0) } ?? rest.best { (-($0.bandwidth ?? .max), 0) }
        }
        guard let chosen else { throw RepriseError(.notDownloadable, "The playlist names no variant.") }
        return chosen.index
    }

    /// Those of `all` that have the codec; all if it is `nil`.
    ///
    /// Throws ``RepriseError`` with code `notDownloadable` if none has it.
    static func having(_ codec: String?, among all: [TrackQuality]) throws(RepriseError) -> [TrackQuality] {
        guard let codec, !all.isEmpty else { return all }
        let rest = all.filter { $0.has(codec) }
        let names = Set(all.compactMap(\.codecs)).sorted().joined(separator: "; ")
        guard !rest.isEmpty else {
            throw RepriseError(
                .notDownloadable, "The stream has no picture in \(codec)\(names.isEmpty ? "" : "; it has \(names)").")
        }
        return rest
    }

    private var rank: (Int64, Int64) { (height ?? 0, bandwidth ?? 0) }

    private static let families = [
        "avc": ["avc1", "avc3"], "h264": ["avc1", "avc3"], "hevc": ["hvc1", "hev1", "dvh1", "dvhe"],
        "h265": ["hvc1", "hev1", "dvh1", "dvhe"], "av1": ["av01", "dav1"], "vp9": ["vp09", "vp9"],
    ]

    private func has(_ codec: String) -> Bool {
        let codec = codec.lowercased()
        let beginnings = Self.families[codec] ?? [codec]
        let names = (codecs ?? "").lowercased().split(separator: ",").map { $0.drop { $0 == " " } }
        return names.contains { name in beginnings.contains { name.hasPrefix($0) } }
    }
}

/// What a rendition or an adaptation set is chosen by.
struct LanguageTrack {
    let language: String?
    /// Whether the playlist marks it as default.
    let isPreset: Bool

    /// The indices of those that `languages` means.
    ///
    /// Where one is needed, the first stands for a missing default. Throws ``RepriseError`` with code `notDownloadable`
    /// if a language is not there; `word` says of what.
    static func choice(
        of tracks: [LanguageTrack], by languages: StreamSelection.Languages, word: String, needsOne: Bool
    ) throws(RepriseError) -> [Int] {
        switch languages {
        case .all: return Array(tracks.indices)
        case .none: return []
        case .preset:
            let marked = tracks.indices.filter { tracks[$0].isPreset }
            return marked.isEmpty && needsOne ? Array(tracks.indices.prefix(1)) : marked
        case .only(let wanted):
            // Sound that is part of the picture has no language to choose by.
            if tracks.isEmpty, needsOne { return [] }
            var (chosen, known): ([Int], Set<Int>) = ([], [])
            for tag in wanted {
                let found = tracks.indices.filter { tracks[$0].speaks(tag) }
                guard !found.isEmpty else {
                    let names = Set(tracks.compactMap(\.language)).sorted().joined(separator: ", ")
                    throw RepriseError(
                        .notDownloadable,
                        "The stream has no \(word) in \(tag)\(names.isEmpty ? "" : "; it has \(names)").")
                }
                chosen += found.filter { known.insert($0).inserted }
            }
            return chosen
        }
    }

    /// Whether a language range means the track (RFC 4647 §3.3.1).
    func speaks(_ range: String) -> Bool {
        guard let language = language?.lowercased() else { return false }
        let range = range.lowercased()
        return language == range || language.hasPrefix(range + "-")
    }
}

extension [TrackQuality] {
    /// The element with the highest rank; the first of several.
    fileprivate func best(by rank: (TrackQuality) -> (Int64, Int64)) -> TrackQuality? {
        var result: (element: TrackQuality, rank: (Int64, Int64))?
        for element in self {
            let own = rank(element)
            if let best = result?.rank, own <= best { continue }
            result = (element, own)
        }
        return result?.element
    }
}
