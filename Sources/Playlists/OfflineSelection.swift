/// What of a playlist plays without the origin.
///
/// Of a multivariant playlist, variants and renditions stay whose own playlists are stored, with groups that are still
/// consistent (rfc8216bis §4.4.6.1.1, §4.4.6.2). Of a media playlist, segments that are not stored are marked as gaps,
/// and interstitials go that are not: a player would wait for them. Of an MPD, representations stay that are stored.
///
///     let selection = OfflineSelection(of: list) { storedLinks.contains($0) }
///     try editor.keep(selection)
package struct OfflineSelection: Sendable {
    /// Lines or elements to take out, in the order of the text.
    package internal(set) var removedLines: [Range<Int>] = []
    /// Whether nothing is left to play.
    package internal(set) var isEmpty = false
    fileprivate var removedTexts: [Range<Int>] = []
    fileprivate var insertions: [(offset: Int, text: String)] = []

    /// Everything.
    init() {}

    /// What of `list` plays if only the links, by their indices in ``HLSPlaylist/links``, are stored for which
    /// `isStored` is true: playlists as wholes, or segments with their byte ranges, maps and keys, and all that
    /// interstitials play.
    package init(of list: HLSPlaylist, isStored: (Int) -> Bool) {
        if list.kind == .media {
            markGaps(in: list, isStored)
        } else {
            Filter(list, isStored).apply(to: &self)
        }
        removedLines.sort { $0.lowerBound < $1.lowerBound }
    }

    /// The segments of a media playlist, by their indices, that cannot be played because they, their map or a key of
    /// theirs are not stored; `isStored` as in ``init(of:isStored:)``.
    package static func missingSegments(of list: HLSPlaylist, isStored: (Int) -> Bool) -> [Int] {
        let media = list.media
        _ = list.budget.allows(steps: media.segments.count + media.maps.count)
        let keySets = media.keySets.map { keys in
            _ = list.budget.allows(steps: 1 + keys.count)
            let encrypting = keys.map { media.keys[$0] }.filter { $0.method != .none }
            // One that every player can use is enough.
            let usable = encrypting.filter(\.isIdentity)
            return (usable.isEmpty ? encrypting : usable).allSatisfy { $0.link.map(isStored) ?? true }
        }
        let maps = media.maps.map { isStored($0.link) && keySets[$0.keySet] }
        return media.segments.indices.filter { index in
            let segment = media.segments[index]
            guard !segment.isGap else { return false }
            return !isStored(segment.link) || !keySets[segment.keySet] || !(segment.map.map { maps[$0] } ?? true)
        }
    }

    private mutating func markGaps(in list: HLSPlaylist, _ isStored: (Int) -> Bool) {
        let missing = Self.missingSegments(of: list, isStored: isStored)
        isEmpty = missing.count == list.media.segments.count { !$0.isGap }
        for index in missing {
            insertions.append((list.media.segments[index].uriLine.lowerBound, "#EXT-X-GAP\n"))
        }
        let lost = Set(list.media.interstitials.filter { !$0.links.allSatisfy(isStored) }.map(\.id))
        removedLines += list.media.interstitials.filter { lost.contains($0.id) }.map(\.line)
        // Without the origin it does not go on.
        guard list.media.isLive else { return }
        let isEnded = list.bytes.last == UInt8(ascii: "\n")
        insertions.append((list.bytes.count, isEnded ? "#EXT-X-ENDLIST\n" : "\n#EXT-X-ENDLIST\n"))
    }

    /// Which variants and renditions of a multivariant playlist stay.
    private struct Filter {
        private struct Group: Hashable {
            let kind: Rendition.Kind
            let id: String
        }

        private let bytes: [UInt8]
        private let playlist: MultivariantPlaylist
        private let budget: PlaylistBudget
        private let stored: Set<Int>
        private var variants: [Int] = []
        /// The renditions of each group, in the order of the text.
        private var members: [Group: [Int]] = [:]
        /// Those of them that stay; a group of which none stays is not among them.
        private var kept: [Group: [Int]] = [:]
        /// Those of no group that stay.
        private var ungrouped: Set<Int> = []

        init(_ list: HLSPlaylist, _ isStored: (Int) -> Bool) {
            (bytes, playlist, budget) = (list.bytes, list.multivariant, list.budget)
            _ = budget.allows(steps: list.links.count)
            stored = Set(list.links.indices.filter(isStored))
            for (index, rendition) in playlist.renditions.enumerated() {
                let stays = rendition.link.map(stored.contains) ?? true
                guard let group = Self.group(of: rendition) else {
                    if stays { ungrouped.insert(index) }
                    continue
                }
                members[group, default: []].append(index)
                if stays { kept[group, default: []].append(index) }
            }
            let apart = Set(kept.filter { look(at: $0.value).contains { playlist.renditions[$0].link != nil } }.keys)
            variants = playlist.variants.indices.filter { isPlayable(playlist.variants[$0], besides: apart) }
            for kind in [Rendition.Kind.audio, .video, .subtitles] { level(kind) }
            let used = Set(variants.flatMap { Self.groups(of: playlist.variants[$0]) })
            kept = kept.filter { used.contains($0.key) }
        }

        /// Some renditions, which are counted as steps.
        private func look(at renditions: [Int]) -> [Int] {
            _ = budget.allows(steps: 1 + renditions.count)
            return renditions
        }

        private static func groups(of variant: Variant) -> [Group] {
            [
                (Rendition.Kind.audio, variant.audioGroup), (.video, variant.videoGroup),
                (.subtitles, variant.subtitlesGroup), (.closedCaptions, variant.closedCaptionsGroup),
            ].compactMap { kind, id in id.map { Group(kind: kind, id: $0) } }
        }

        private static func group(of rendition: Rendition) -> Group? {
            rendition.groupID.map { Group(kind: rendition.kind, id: $0) }
        }

        /// Whether its own playlist is stored, or its sound and its picture come from groups, and each of these groups
        /// has a member left; `apart` are the groups in which one has a playlist of its own.
        private func isPlayable(_ variant: Variant, besides apart: Set<Group>) -> Bool {
            _ = budget.allows()
            let essential = Self.groups(of: variant).filter { $0.kind == .audio || $0.kind == .video }
            guard essential.allSatisfy({ members[$0] == nil || kept[$0] != nil }) else { return false }
            if let link = variant.link, stored.contains(link) { return true }
            return Set(essential.filter(apart.contains).map(\.kind)) == [.audio, .video]
        }

        /// Makes all groups of a kind have members of the same names, as they must.
        private mutating func level(_ kind: Rendition.Kind) {
            _ = budget.allows(steps: variants.count)
            let groups = Set(variants.flatMap { Self.groups(of: playlist.variants[$0]) }.filter { $0.kind == kind })
            guard groups.count > 1 else { return }
            func names(_ group: Group) -> Set<String?> {
                Set(look(at: kept[group] ?? []).map { playlist.renditions[$0].name })
            }
            let common = groups.map(names).reduce(nil as Set<String?>?) { $0?.intersection($1) ?? $1 } ?? []
            if common.isEmpty, kind != .subtitles {
                // One group alone is consistent, too: the one with most members, and of several the first.
                let all = playlist.variants.flatMap { Self.groups(of: $0) }
                let order = Dictionary(all.enumerated().map { ($1, $0) }) { first, _ in first }
                let best = groups.min { left, right in
                    let (first, second) = (kept[left]?.count ?? 0, kept[right]?.count ?? 0)
                    guard first == second else { return first > second }
                    return order[left] ?? 0 < order[right] ?? 0
                }
                variants = variants.filter { index in
                    Self.groups(of: playlist.variants[index]).allSatisfy { $0.kind != kind || $0 == best }
                }
            } else {
                for group in groups {
                    let left = look(at: kept[group] ?? []).filter { common.contains(playlist.renditions[$0].name) }
                    kept[group] = left.isEmpty ? nil : left
                }
            }
        }

        func apply(to selection: inout OfflineSelection) {
            selection.isEmpty = variants.isEmpty
            let staying = Set(variants)
            for (index, variant) in playlist.variants.enumerated() {
                if !staying.contains(index) {
                    selection.removedLines += [variant.tagLine] + (variant.uriLine.map { [$0] } ?? [])
                } else if let group = variant.subtitlesGroup, kept[Group(kind: .subtitles, id: group)] == nil {
                    selection.removedTexts += place(of: "SUBTITLES", in: variant.attributes).map { [$0] } ?? []
                }
            }
            let others = playlist.iFrameVariants + playlist.imageVariants
            selection.removedLines += others.filter { !($0.link.map(stored.contains) ?? false) }.map(\.tagLine)
            let renditions = kept.values.reduce(into: ungrouped) { $0.formUnion(look(at: $1)) }
            for (index, rendition) in playlist.renditions.enumerated() where !renditions.contains(index) {
                selection.removedLines.append(rendition.line)
            }
            selection.removedLines += playlist.sessionKeys.filter { !($0.link.map(stored.contains) ?? true) }.map(
                \.line)
            selection.removedLines += playlist.sessionData.filter { !($0.link.map(stored.contains) ?? true) }.map(
                \.line)
            for group in kept.keys where group.kind == .audio || group.kind == .video {
                chooseDefault(of: group, in: &selection)
            }
        }

        /// Without a default where there was one, players would choose none.
        private func chooseDefault(of group: Group, in selection: inout OfflineSelection) {
            let kept = look(at: kept[group] ?? [])
            guard look(at: members[group] ?? []).contains(where: { playlist.renditions[$0].isDefault }),
                !kept.contains(where: { playlist.renditions[$0].isDefault }), let first = kept.min(),
                let end = playlist.renditions[first].attributes.last?.whole.upperBound
            else { return }
            for name in ["DEFAULT", "AUTOSELECT"] {
                let attributes = playlist.renditions[first].attributes
                if let value = attributes.first(where: { bytes.text($0.name) == name })?.value {
                    selection.removedTexts.append(value)
                    selection.insertions.append((value.lowerBound, "YES"))
                } else {
                    selection.insertions.append((end, ",\(name)=YES"))
                }
            }
        }

        /// An attribute with the comma that parts it from another.
        private func place(of name: String, in attributes: [AttributeSpan]) -> Range<Int>? {
            guard let index = attributes.firstIndex(where: { bytes.text($0.name) == name }) else { return nil }
            if index > 0 { return attributes[index - 1].whole.upperBound..<attributes[index].whole.upperBound }
            let next = attributes.dropFirst().first?.whole.lowerBound
            return attributes[index].whole.lowerBound..<(next ?? attributes[index].whole.upperBound)
        }
    }
}

extension PlaylistEditor {
    /// Leaves only what `selection` keeps.
    ///
    /// Links in ``OfflineSelection/removedLines`` must not be replaced as well.
    package mutating func keep(_ selection: OfflineSelection) throws(PlaylistError) {
        for place in selection.removedLines + selection.removedTexts { try remove(place) }
        for insertion in selection.insertions { try insert(insertion.text, at: insertion.offset) }
    }
}

extension OfflineSelection {
    /// What of `mpd` plays if only those representations are stored, from their initialization to their last segment,
    /// for which `isStored` is true.
    ///
    /// Empty if the picture or the sound of a period is not stored at all. An adaptation set without a stored
    /// representation goes as a whole.
    package init(of mpd: MPD, isStored: (MPD.Path) -> Bool) {
        self.init()
        isEmpty = mpd.periods.isEmpty
        for (period, value) in mpd.periods.enumerated() {
            var (there, stored): (Set<String>, Set<String>) = ([], [])
            for (number, set) in value.adaptationSets.enumerated() where !set.representations.isEmpty {
                _ = mpd.budget.allows(steps: 1 + set.representations.count)
                let missing = set.representations.indices.filter { index in
                    !isStored(MPD.Path(period: period, adaptationSet: number, representation: index))
                }
                there.insert(set.medium)
                if missing.count == set.representations.count {
                    removedLines.append(set.element)
                } else {
                    stored.insert(set.medium)
                    removedLines += missing.map { set.representations[$0].element }
                }
            }
            let wanted = there.intersection(["video", "audio"])
            if stored.isEmpty || !stored.isSuperset(of: wanted) { isEmpty = true }
        }
        removedLines.sort { $0.lowerBound < $1.lowerBound }
    }
}

extension AdaptationSet {
    /// What it carries: `video`, `audio`, `text`, `image` or another word; empty if no attribute says.
    package var medium: String {
        if let contentType { return contentType }
        let type = representations.first?.attributes.mimeType ?? common.mimeType ?? ""
        return String(type.prefix { $0 != "/" })
    }
}
