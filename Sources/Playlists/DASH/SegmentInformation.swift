/// How the segments of a representation are found: `SegmentTemplate`, `SegmentList` or `SegmentBase`.
///
/// ISO/IEC 23009-1 §5.3.9.
package struct SegmentInformation: Hashable, Sendable {
    /// The three ways.
    package enum Kind: Sendable {
        /// A pattern that numbers or times are put into (§5.3.9.4).
        case template
        /// A list of links (§5.3.9.3).
        case list
        /// One file with an index (§5.3.9.2).
        case base
    }

    /// A run of segments of equal duration: `S` of a `SegmentTimeline` (§5.3.9.6).
    package struct Run: Hashable, Sendable {
        /// `@t`: when the first begins, in units of the timescale; `nil` right after the run before.
        package let time: Int64?
        /// `@d`: duration of each, in units of the timescale.
        package let duration: Int64
        /// `@r`: how many more than one; `nil` for −1, up to the next run or the end of the period.
        package let repeats: Int64?
    }

    /// A resource, or a part of one.
    package struct Resource: Hashable, Sendable {
        /// Index in ``MPD/links``; `nil` for the base URL itself.
        package internal(set) var link: Int?
        /// The bytes of it.
        package internal(set) var extent = ByteExtent.whole
    }

    /// Which of the three.
    package let kind: Kind
    /// `@timescale`: units per second.
    package internal(set) var timescale: Int64?
    /// `@duration` of each segment, in units of the timescale.
    package internal(set) var duration: Int64?
    /// `@startNumber`.
    package internal(set) var startNumber: Int64?
    /// `@startNumber` with its name and its quotation marks.
    var startNumberAttribute: Range<Int>?
    /// `@endNumber`.
    package internal(set) var endNumber: Int64?
    /// `@presentationTimeOffset`, in units of the timescale.
    package internal(set) var presentationTimeOffset: Int64?
    /// `SegmentTimeline`.
    package internal(set) var timeline: [Run]?
    /// Link of `@media`, a pattern.
    package internal(set) var media: Int?
    /// Link of `@initialization`, a pattern.
    package internal(set) var initializationTemplate: Int?
    /// `Initialization`.
    package internal(set) var initialization: Resource?
    /// `@indexRange`.
    package internal(set) var indexRange: ByteExtent?
    /// `SegmentURL`, in order.
    package internal(set) var segmentURLs: [Resource]?
    /// Index in ``MPD/links`` of `xlink:href`, if the list lies elsewhere.
    package internal(set) var remote: Int?

    /// The element, from its start tag to its end tag; `nil` while it is read.
    package internal(set) var element: Range<Int>?

    init(_ kind: Kind) { self.kind = kind }

    /// What holds on this level: what is missing comes from the level around it, which is of the same kind (§5.3.9.1).
    func inheriting(from outer: SegmentInformation) -> SegmentInformation {
        var result = self
        result.timescale = timescale ?? outer.timescale
        result.duration = duration ?? outer.duration
        result.startNumber = startNumber ?? outer.startNumber
        result.startNumberAttribute = startNumber == nil ? outer.startNumberAttribute : startNumberAttribute
        result.endNumber = endNumber ?? outer.endNumber
        result.presentationTimeOffset = presentationTimeOffset ?? outer.presentationTimeOffset
        result.timeline = timeline ?? outer.timeline
        result.media = media ?? outer.media
        result.initializationTemplate = initializationTemplate ?? outer.initializationTemplate
        result.initialization = initialization ?? outer.initialization
        result.indexRange = indexRange ?? outer.indexRange
        result.segmentURLs = segmentURLs ?? outer.segmentURLs
        result.remote = remote ?? outer.remote
        return result
    }
}

/// Reads `SegmentTemplate`, `SegmentList`, `SegmentBase` and what stands in them (ISO/IEC 23009-1 §5.3.9).
struct SegmentInformationReader {
    private var open: SegmentInformation?
    private var owner: MPDElement?

    /// An element begins.
    mutating func start(
        _ element: MPDElement, attributes: MPDAttributes, inside parent: MPDElement?, remote: Int?,
        in text: inout MPDText
    ) throws(PlaylistError) {
        switch element {
        case .segmentTemplate:
            begin(.template, attributes: attributes, inside: parent)
            let media = try link(.mediaTemplate, name: "media", attributes: attributes, in: &text)
            let initialization = try link(
                .initializationTemplate, name: "initialization", attributes: attributes, in: &text)
            open?.media = media
            open?.initializationTemplate = initialization
            _ = try link(.indexTemplate, name: "index", attributes: attributes, in: &text)
            _ = try link(.initializationTemplate, name: "bitstreamSwitching", attributes: attributes, in: &text)
        case .segmentList:
            begin(.list, attributes: attributes, inside: parent)
            open?.remote = remote
        case .segmentBase: begin(.base, attributes: attributes, inside: parent)
        case .segmentTimeline: open?.timeline = []
        case .run:
            try text.budget.keep(SegmentInformation.Run.self)
            addRun(attributes)
        case .segmentURL: try addSegmentURL(attributes, in: &text)
        case .initialization:
            let resource = try resource(.map, attributes: attributes, in: &text)
            open?.initialization = resource
        case .representationIndex: _ = try resource(.index, attributes: attributes, in: &text)
        case .bitstreamSwitching: _ = try resource(.map, attributes: attributes, in: &text)
        default: break
        }
    }

    /// An element ends: what it said, and the element around it, if it was one of the three.
    mutating func end(_ element: MPDElement) -> (SegmentInformation, owner: MPDElement)? {
        switch element {
        case .segmentTemplate, .segmentList, .segmentBase:
            defer { (open, owner) = (nil, nil) }
            guard let open, let owner else { return nil }
            return (open, owner)
        default: return nil
        }
    }

    private mutating func begin(
        _ kind: SegmentInformation.Kind, attributes: MPDAttributes, inside parent: MPDElement?
    ) {
        var information = SegmentInformation(kind)
        information.timescale = attributes.integer("timescale")
        information.duration = attributes.integer("duration")
        information.startNumber = attributes.integer("startNumber")
        information.startNumberAttribute = attributes.place("startNumber")
        information.endNumber = attributes.integer("endNumber")
        information.presentationTimeOffset = attributes.integer("presentationTimeOffset")
        information.indexRange = attributes.extent("indexRange")
        (open, owner) = (information, parent)
    }

    private mutating func addRun(_ attributes: MPDAttributes) {
        guard let duration = attributes.integer("d") else { return }
        let repeats = attributes.signedInteger("r") ?? 0
        let run = SegmentInformation.Run(
            time: attributes.integer("t"), duration: duration, repeats: repeats < 0 ? nil : repeats)
        open?.timeline?.append(run)
    }

    private mutating func addSegmentURL(
        _ attributes: MPDAttributes, in text: inout MPDText
    ) throws(PlaylistError) {
        try text.budget.keep(SegmentInformation.Resource.self)
        var resource = SegmentInformation.Resource()
        resource.link = try link(.segment, name: "media", attributes: attributes, in: &text)
        resource.extent = attributes.extent("mediaRange") ?? .whole
        if let link = resource.link { text.setExtent(resource.extent, of: link) }
        if let index = try link(.index, name: "index", attributes: attributes, in: &text),
            let extent = attributes.extent("indexRange")
        {
            text.setExtent(extent, of: index)
        }
        guard open != nil else { return }
        if open?.segmentURLs == nil { open?.segmentURLs = [] }
        open?.segmentURLs?.append(resource)
    }

    private func resource(
        _ kind: LinkKind, attributes: MPDAttributes, in text: inout MPDText
    ) throws(PlaylistError) -> SegmentInformation.Resource {
        var resource = SegmentInformation.Resource()
        resource.link = try link(kind, name: "sourceURL", attributes: attributes, in: &text)
        resource.extent = attributes.extent("range") ?? .whole
        if let link = resource.link { text.setExtent(resource.extent, of: link) }
        return resource
    }

    private func link(
        _ kind: LinkKind, name: StaticString, attributes: MPDAttributes, in text: inout MPDText
    ) throws(PlaylistError) -> Int? {
        guard let attribute = attributes.attribute(name) else { return nil }
        return try text.addLink(kind, at: attribute.value, in: .xmlAttribute(quote: attribute.quote))
    }
}
