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
