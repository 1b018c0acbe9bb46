/// A DASH media presentation description: its links, and what is decided by (ISO/IEC 23009-1 §5.3).
///
///     let mpd = try MPD(bytes)
///     let path = MPD.Path(period: 0, adaptationSet: 0, representation: 0)
///     let segments = try mpd.segments(of: path, base: finalURL, limit: 10_000)
package struct MPD: Sendable {
    /// What the root element is.
    package enum Root: Sendable {
        /// `MPD`.
        case presentation
        /// `Patch`, a change to an MPD (§5.15); only its links are read.
        case patch
    }

    /// Names a representation by its indices.
    package struct Path: Hashable, Sendable {
        /// Index in ``MPD/periods``.
        package var period: Int
        /// Index in ``Period/adaptationSets``.
        package var adaptationSet: Int
        /// Index in ``AdaptationSet/representations``.
        package var representation: Int

        /// Creates a path.
        package init(period: Int, adaptationSet: Int, representation: Int) {
            (self.period, self.adaptationSet, self.representation) = (period, adaptationSet, representation)
        }
    }

    /// The text.
    package let bytes: [UInt8]
    /// The work that may be done with it, of which reading it was a part.
    package internal(set) var budget: PlaylistBudget
    /// The root element.
    package internal(set) var root = Root.presentation
    /// `@type="dynamic"`: the description changes.
    package internal(set) var isDynamic = false
    /// `@mediaPresentationDuration`, in seconds.
    package internal(set) var duration: Double?
    /// The value of `@mediaPresentationDuration`, without quotation marks.
    var durationValue: Range<Int>?
    /// `@minimumUpdatePeriod`, in seconds; `nil` means no automatic update, 0 an update on events in the stream.
    package internal(set) var minimumUpdatePeriod: Double?
    /// `@timeShiftBufferDepth`, in seconds.
    package internal(set) var timeShiftBufferDepth: Double?
    /// `@suggestedPresentationDelay`, in seconds.
    package internal(set) var suggestedPresentationDelay: Double?
    /// `@maxSegmentDuration`, in seconds.
    package internal(set) var maxSegmentDuration: Double?
    /// `@availabilityStartTime`, as written.
    package internal(set) var availabilityStartTime: String?
    /// `@publishTime`, as written.
    package internal(set) var publishTime: String?
    /// `@profiles`.
    package internal(set) var profiles: String?
    /// `BaseURL` elements of the MPD: alternatives for one base.
    package internal(set) var baseURLs: [BaseURL] = []
    /// Indices in ``links``.
    package internal(set) var locations: [Int] = []
    /// Indices in ``links``.
    package internal(set) var patchLocations: [Int] = []
    /// The periods, in order.
    package internal(set) var periods: [Period] = []
    /// Offset behind the start tag of the root, where a `BaseURL` can be inserted; `nil` if the root is empty.
    package internal(set) var contentStart: Int?
    /// The root's namespace prefix with its colon, which an inserted element needs; empty as a rule.
    package internal(set) var prefix = ""
    /// `ContentSteering` elements, from their start tag to their end tag; none is inside another.
    package internal(set) var steering: [Range<Int>] = []
    /// Every URI and pattern of URIs, in the order of the text.
    package internal(set) var links: [Link] = []

    /// Reads `bytes`.
    ///
    /// Throws `notAPlaylist` unless the root is `MPD` or `Patch`, `documentType`, `encoding` or `malformedXML` for
    /// such documents, and when a limit is exceeded.
    package init(_ bytes: [UInt8], limits: PlaylistLimits = PlaylistLimits()) throws(PlaylistError) {
        try limits.check(size: bytes.count)
        var parser = try MPDParser(bytes, budget: PlaylistBudget(limits, forInput: bytes.count))
        self = try parser.parse()
    }

    /// An empty description over a text.
    init(reading bytes: [UInt8], within budget: PlaylistBudget) { (self.bytes, self.budget) = (bytes, budget) }

    /// The link as it must be resolved: references to characters decoded, bytes beyond ASCII percent-encoded.
    package func reference(of link: Link) -> URIReference { URIReference(bytes: link.value(in: bytes)) }

    /// Where the link leads from `base`, which is the base of its own element.
    package func target(of link: Link, base: URIReference) -> LinkTarget {
        if let obstacle = link.obstacle { return .leftAlone(.unreadable(obstacle)) }
        return budget.target(of: reference(of: link), base: base)
    }

    /// The URI at the end of a way through `BaseURL` elements, in a document that came from `documentURL` (§5.6.4).
    ///
    /// Once the budget is exceeded, links lead nowhere from what is returned.
    package func base(along path: BasePaths.Path, documentURL: URIReference) -> URIReference {
        path.reduce(documentURL) { (try? budget.resolve(reference(of: links[$1]), against: $0)) ?? $0 }
    }
}

extension MPD {
    /// The description of the period at `index` alone, which begins at 0.
    ///
    /// It is as long as the period, in whole seconds, rounded up: ffmpeg reads no fractions of a duration, and would
    /// leave out the last segment. Throws `misplacedEdit` if a period lies in another one.
    package func presentation(ofPeriod index: Int) throws(PlaylistError) -> [UInt8] {
        var editor = PlaylistEditor(bytes, within: budget)
        for (other, period) in periods.enumerated() where other != index { try editor.remove(period.element) }
        if let start = periods[index].startAttribute { try editor.remove(start) }
        if let duration = duration(ofPeriod: index), let contentStart {
            let text = "PT\(Int64(duration.rounded(.up)))S"
            if let durationValue {
                try editor.insert(text, at: durationValue.lowerBound)
                try editor.remove(durationValue)
            } else {
                try editor.insert(" mediaPresentationDuration=\"\(text)\"", at: contentStart - 1)
            }
        }
        return try editor.edited()
    }

    /// Each `@startNumber` of a `SegmentList` that no representation ends by an `@endNumber`: no link depends on these
    /// numbers.
    package var startNumbersOfLists: [Range<Int>] {
        let information = periods.flatMap { period in
            [period.segments]
                + period.adaptationSets.flatMap { set in [set.segments] + set.representations.map(\.segments) }
        }
        // The two may stand on different levels.
        let needed = Set(
            paths.compactMap { segmentInformation(of: $0) }.filter { $0.endNumber != nil }
                .compactMap(\.startNumberAttribute))
        return information.compactMap { $0 }.filter { $0.kind == .list && $0.endNumber == nil }
            .compactMap(\.startNumberAttribute)
            .filter { !needed.contains($0) }
    }
}
