/// Builds an MPD out of its elements; what stands where it does not belong adds links only.
struct MPDBuilder {
    private var mpd: MPD
    private let budget: PlaylistBudget
    private var segments = SegmentInformationReader()
    /// `@serviceLocation` of the open `BaseURL`.
    private var serviceLocation: String?

    init(_ bytes: [UInt8], budget: PlaylistBudget) {
        mpd = MPD(reading: bytes, within: budget)
        self.budget = budget
    }

    /// The description, once everything is read.
    func finish(links: [Link]) -> MPD {
        var result = mpd
        result.links = links
        var end: Double? = 0
        for index in result.periods.indices {
            let period = result.periods[index]
            let beginning = period.start ?? end
            result.periods[index].beginning = beginning
            end = beginning.flatMap { start in period.duration.map { start + $0 } }
        }
        return result
    }

    /// The root element begins.
    mutating func startRoot(_ element: MPDElement, prefix: String, contentStart: Int?) {
        mpd.root = element == .patch ? .patch : .presentation
        (mpd.prefix, mpd.contentStart) = (prefix, contentStart)
    }

    /// An element begins, whose start tag stands at `place`.
    mutating func start(
        _ element: MPDElement, at place: Range<Int>, attributes: MPDAttributes, inside parent: MPDElement?,
        in text: inout MPDText
    ) throws(PlaylistError) {
        var remote: Int?
        if let attribute = attributes.remote {
            remote = try text.addLink(
                .remoteElement, at: attribute.value, in: .xmlAttribute(quote: attribute.quote))
        }
        switch (element, parent) {
        case (.mpd, nil): readRoot(attributes)
        case (.period, .mpd):
            try budget.keep(Period.self)
            mpd.periods.append(period(attributes, at: place, remote: remote))
        case (.adaptationSet, .period):
            try budget.keep(AdaptationSet.self)
            let set = adaptationSet(attributes, at: place, remote: remote)
            withPeriod { $0.adaptationSets.append(set) }
        case (.representation, .adaptationSet):
            try budget.keep(Representation.self)
            let representation = representation(attributes, at: place)
            withSet { set in
                var representation = representation
                representation.attributes = representation.attributes.inheriting(from: set.common)
                set.representations.append(representation)
            }
        case (.contentProtection, .adaptationSet), (.contentProtection, .representation):
            withSet { $0.isProtected = true }
        case (.baseURL, _): serviceLocation = attributes.string("serviceLocation")
        case (.clock, _):
            if attributes.string("schemeIdUri")?.hasPrefix("urn:mpeg:dash:utc:http-") == true {
                try addLinks(.clock, attributes: attributes, in: &text)
            }
        case (.property, _):
            // MPDs to go on with, or to fall back to (§5.11.2, §5.11.3).
            if let scheme = attributes.string("schemeIdUri"), Self.chainingSchemes.contains(scheme) {
                try addLinks(.importedMPD, attributes: attributes, in: &text)
            }
        case (.alternative, _):
            try addLink(.importedMPD, attribute: attributes.attribute("url") ?? attributes.attribute("uri"), in: &text)
        case (.initializationSet, _): try addLink(.map, attribute: attributes.attribute("initialization"), in: &text)
        default: try segments.start(element, attributes: attributes, inside: parent, remote: remote, in: &text)
        }
    }

    /// An element ends, which stands at `place`; what a segment element says goes to the level around it.
    mutating func end(_ element: MPDElement, at place: Range<Int>) {
        if element == .contentSteering {
            // An element ends after those that it contains.
            while let last = mpd.steering.last, last.lowerBound > place.lowerBound { mpd.steering.removeLast() }
            mpd.steering.append(place)
        }
        // One that stands where none belongs ends, too, and is none of these.
        if element == .adaptationSet {
            withSet { if $0.element.lowerBound == place.lowerBound { $0.element = place } }
        } else if element == .period {
            withPeriod { if $0.element.lowerBound == place.lowerBound { $0.element = place } }
        } else if element == .representation {
            withRepresentation { if $0.element.lowerBound == place.lowerBound { $0.element = place } }
        }
        guard let (ended, owner) = segments.end(element) else { return }
        var information = ended
        information.element = place
        switch owner {
        case .period: withPeriod { $0.segments = information }
        case .adaptationSet: withSet { $0.segments = information }
        case .representation: withRepresentation { $0.segments = information }
        default: break
        }
    }

    /// The text of an element is known.
    mutating func setText(
        _ element: MPDElement, link: Int?, inside parent: MPDElement?
    ) throws(PlaylistError) {
        switch (element, parent) {
        case (.location, .mpd): if let link { mpd.locations.append(link) }
        case (.patchLocation, .mpd): if let link { mpd.patchLocations.append(link) }
        case (.baseURL, let parent?):
            try budget.keep(BaseURL.self)
            let base = BaseURL(link: link, serviceLocation: serviceLocation)
            serviceLocation = nil
            switch parent {
            case .mpd: mpd.baseURLs.append(base)
            case .period: withPeriod { $0.baseURLs.append(base) }
            case .adaptationSet: withSet { $0.baseURLs.append(base) }
            case .representation: withRepresentation { $0.baseURLs.append(base) }
            default: break
            }
        default: break
        }
    }

    private mutating func readRoot(_ attributes: MPDAttributes) {
        mpd.isDynamic = attributes.string("type") == "dynamic"
        mpd.duration = attributes.seconds("mediaPresentationDuration")
        mpd.durationValue = attributes.attribute("mediaPresentationDuration")?.value
        mpd.minimumUpdatePeriod = attributes.seconds("minimumUpdatePeriod")
        mpd.timeShiftBufferDepth = attributes.seconds("timeShiftBufferDepth")
        mpd.suggestedPresentationDelay = attributes.seconds("suggestedPresentationDelay")
        mpd.maxSegmentDuration = attributes.seconds("maxSegmentDuration")
        mpd.availabilityStartTime = attributes.string("availabilityStartTime")
        mpd.publishTime = attributes.string("publishTime")
        mpd.profiles = attributes.string("profiles")
    }

    private func period(_ attributes: MPDAttributes, at place: Range<Int>, remote: Int?) -> Period {
        Period(
            id: attributes.string("id"), start: attributes.seconds("start"), duration: attributes.seconds("duration"),
            remote: remote, element: place,
            startAttribute: attributes.place("start"))
    }

    private func adaptationSet(_ attributes: MPDAttributes, at place: Range<Int>, remote: Int?) -> AdaptationSet {
        AdaptationSet(
            id: attributes.string("id"), contentType: attributes.string("contentType"),
            language: attributes.string("lang"), common: common(attributes), remote: remote,
            element: place)
    }

    private func representation(_ attributes: MPDAttributes, at place: Range<Int>) -> Representation {
        Representation(
            id: attributes.string("id") ?? "", bandwidth: attributes.integer("bandwidth"),
            attributes: common(attributes), element: place, startTag: place)
    }

    private func common(_ attributes: MPDAttributes) -> RepresentationAttributes {
        RepresentationAttributes(
            mimeType: attributes.string("mimeType"), codecs: attributes.string("codecs"),
            width: attributes.integer("width"), height: attributes.integer("height"),
            frameRate: attributes.string("frameRate"), audioSamplingRate: attributes.string("audioSamplingRate"))
    }

    private static let chainingSchemes: Set<String> = ["urn:mpeg:dash:chaining:2016", "urn:mpeg:dash:fallback:2016"]

    /// URLs in `@value`, separated by spaces; of clocks, other schemes hold a time or the name of a server
    /// (§5.8.4.11).
    private func addLinks(_ kind: LinkKind, attributes: MPDAttributes, in text: inout MPDText) throws(PlaylistError) {
        guard let value = attributes.attribute("value") else { return }
        let bytes = text.bytes
        for url in bytes[value.value].split(whereSeparator: \.isSpace) {
            _ = try text.addLink(kind, at: url.startIndex..<url.endIndex, in: .xmlAttribute(quote: value.quote))
        }
    }

    private func addLink(
        _ kind: LinkKind, attribute: XMLTag.Attribute?, in text: inout MPDText
    ) throws(PlaylistError) {
        guard let attribute else { return }
        _ = try text.addLink(kind, at: attribute.value, in: .xmlAttribute(quote: attribute.quote))
    }

    // MARK: - The open level

    /// The levels around what stands in `element`, which stands in `parent` and in `outer`.
    func scope(in element: MPDElement, inside parent: MPDElement?, of outer: LinkScope) -> LinkScope {
        var scope = outer
        let sets = mpd.periods.last?.adaptationSets
        switch (element, parent) {
        case (.period, .mpd): scope = LinkScope(period: mpd.periods.indices.last)
        case (.adaptationSet, .period) where outer.period != nil: scope.adaptationSet = sets?.indices.last
        case (.representation, .adaptationSet) where outer.adaptationSet != nil:
            scope.representation = sets?.last?.representations.indices.last
        default: break
        }
        return scope
    }

    private mutating func withPeriod(_ body: (inout Period) -> Void) {
        guard !mpd.periods.isEmpty else { return }
        body(&mpd.periods[mpd.periods.count - 1])
    }

    private mutating func withSet(_ body: (inout AdaptationSet) -> Void) {
        withPeriod { period in
            guard !period.adaptationSets.isEmpty else { return }
            body(&period.adaptationSets[period.adaptationSets.count - 1])
        }
    }

    private mutating func withRepresentation(_ body: (inout Representation) -> Void) {
        withSet { set in
            guard !set.representations.isEmpty else { return }
            body(&set.representations[set.representations.count - 1])
        }
    }
}
