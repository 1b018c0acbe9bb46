extension MPD {
    /// How the segments of a representation are found, with what outer levels say (ISO/IEC 23009-1 §5.3.9.1).
    ///
    /// `nil` if no level says anything: the base URL is the only segment. Where levels differ in kind, which the
    /// specification forbids, the innermost counts, except that ffmpeg and GStreamer prefer templates to lists.
    package func segmentInformation(of path: Path) -> SegmentInformation? {
        guard let (period, set, representation) = levels(path) else { return nil }
        let levels = [period.segments, set.segments, representation.segments].compactMap { $0 }
        guard var kind = levels.last?.kind else { return nil }
        if kind == .list, levels.contains(where: { $0.kind == .template }) { kind = .template }
        let alike = levels.filter { $0.kind == kind }
        return alike.dropFirst().reduce(alike.first) { outer, level in outer.map(level.inheriting(from:)) }
    }

    /// The representations, in the order of the text.
    package var paths: [Path] {
        periods.enumerated().flatMap { period, value in
            value.adaptationSets.enumerated().flatMap { set, adaptation in
                adaptation.representations.indices.map {
                    Path(period: period, adaptationSet: set, representation: $0)
                }
            }
        }
    }

    /// The base of a representation's links: one `BaseURL` of each level, against the URL of the MPD (§5.6).
    ///
    /// Of alternatives the one at index `alternative` counts, or the last if there are fewer. Once the budget is
    /// exceeded, links lead nowhere from what is returned.
    package func baseURL(of path: Path, base: URIReference, alternative: Int = 0) -> URIReference {
        guard let (period, set, representation) = levels(path) else { return base }
        var result = base
        for level in [baseURLs, period.baseURLs, set.baseURLs, representation.baseURLs] where !level.isEmpty {
            guard let link = level[min(max(0, alternative), level.count - 1)].link else { continue }
            result = (try? budget.resolve(reference(of: links[link]), against: result)) ?? result
        }
        return result
    }

    /// The initialization section of a representation; `nil` if it has none or names none.
    package func initialization(of path: Path, base: URIReference) -> DASHSegment? {
        guard let (_, _, representation) = levels(path), let information = segmentInformation(of: path) else {
            return nil
        }
        let base = baseURL(of: path, base: base)
        var (target, extent): (LinkTarget?, ByteExtent) = (nil, .whole)
        // As ffmpeg and GStreamer do, wherever the two stand.
        if let index = information.initializationTemplate {
            do throws(PlaylistError) {
                target = try template(index, of: representation).target(
                    number: 0, time: 0, base: base, within: budget)
            } catch {
                target = .leftAlone(.unreadable(error.code))
            }
        } else if let resource = information.initialization {
            let uri = resource.link.map { reference(of: links[$0]) } ?? URIReference("")
            (target, extent) = (budget.target(of: uri, base: base), resource.extent)
        }
        return target.map { DASHSegment(target: $0, extent: extent, number: 0, start: 0, duration: nil) }
    }

    /// The media segments of a representation, in order, at most `limit`; they are counted here, and made later.
    ///
    /// Throws `endless` if there are more, or if nothing says when they end: a template with `@duration` and no
    /// duration of the period, or a last run with `@r="-1"` in such a period. Throws `incompleteTemplate` if
    /// durations, a pattern or the representation itself are missing, `expansionTooLong` if each link would be longer
    /// than ``PlaylistLimits/linkLength``, and `budgetExceeded`.
    package func segments(
        of path: Path, base: URIReference, limit: Int = 100_000
    ) throws(PlaylistError) -> DASHSegments {
        try budget.spend()
        guard let (_, _, representation) = levels(path) else {
            throw PlaylistError(.incompleteTemplate, "There is no such representation.")
        }
        let base = baseURL(of: path, base: base)
        let information = segmentInformation(of: path)
        let clock = information.map { SegmentClock($0, periodDuration: duration(ofPeriod: path.period)) }
        guard let information, let clock, information.kind != .base else {
            let file = DASHSegment(
                target: budget.target(of: URIReference(""), base: base), extent: .whole, number: 1, start: 0,
                duration: duration(ofPeriod: path.period))
            return DASHSegments(mpd: self, base: base, source: .file(file))
        }
        if information.kind == .list {
            guard information.remote == nil, let urls = information.segmentURLs else {
                throw PlaylistError(.incompleteTemplate, "The list of segments lies elsewhere, or is empty.")
            }
            let slots = try clock.slots(count: urls.count, limit: limit, within: budget)
            return DASHSegments(mpd: self, base: base, source: .list(urls, slots))
        }
        guard let media = information.media else {
            throw PlaylistError(.incompleteTemplate, "The template has no @media.")
        }
        let template = try template(media, of: representation)
        let slots = try clock.slots(count: nil, limit: template.namesSegments ? limit : 1, within: budget)
        return DASHSegments(mpd: self, base: base, source: .template(template, slots))
    }

    /// The pattern at a link, with what is the same for all segments of a representation put in.
    private func template(_ link: Int, of representation: Representation) throws(PlaylistError) -> SegmentTemplate {
        let pattern = links[link].value(in: bytes)
        try budget.spend(bytes: pattern.count + representation.id.utf8.count)
        return try SegmentTemplate(pattern).filled(
            representationID: representation.id, bandwidth: representation.bandwidth ?? 0, within: budget)
    }

    /// The identifiers of a pattern that make the names of one representation's segments differ, such as
    /// `$Number%05d$`.
    package func identifiers(of link: Link) -> [String] { SegmentTemplate(link.value(in: bytes)).identifiers }

    /// Duration of a period, in seconds: its own, or up to the next one, or up to the end (§5.3.2.1).
    package func duration(ofPeriod index: Int) -> Double? {
        guard periods.indices.contains(index) else { return nil }
        if let duration = periods[index].duration { return duration }
        guard let start = periods[index].beginning else { return nil }
        if index + 1 < periods.count { return periods[index + 1].start.map { max(0, $0 - start) } }
        return duration.map { max(0, $0 - start) }
    }

    private func levels(_ path: Path) -> (Period, AdaptationSet, Representation)? {
        guard periods.indices.contains(path.period) else { return nil }
        let period = periods[path.period]
        guard period.adaptationSets.indices.contains(path.adaptationSet) else { return nil }
        let set = period.adaptationSets[path.adaptationSet]
        guard set.representations.indices.contains(path.representation) else { return nil }
        return (period, set, set.representations[path.representation])
    }
}
