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
