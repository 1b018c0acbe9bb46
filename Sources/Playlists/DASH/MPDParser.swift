/// Reads an MPD in one pass: checks that elements are nested, and hands each to the builder.
struct MPDParser {
    private struct OpenElement {
        let element: MPDElement
        let name: Range<Int>
        /// Offset of its start tag.
        let start: Int
        /// The levels around what stands in it.
        let scope: LinkScope
    }

    /// The text of an element that names something.
    private struct Collected {
        let kind: LinkKind
        let depth: Int
        var place: Range<Int>?
        /// Whether there are CDATA sections, comments or instructions in it.
        var hasSections = false
    }

    private var text: MPDText
    private var tokens: XMLTokenizer
    private var builder: MPDBuilder
    private var open: [OpenElement] = []
    private var elementCount = 0
    private var hasRoot = false
    /// Length of the namespace prefix of the root, with its colon.
    private var rootPrefix: Range<Int> = 0..<0
    private var collected: Collected?

    init(_ bytes: [UInt8], budget: PlaylistBudget) throws(PlaylistError) {
        text = MPDText(bytes, budget: budget)
        tokens = try XMLTokenizer(bytes, budget: budget)
        builder = MPDBuilder(bytes, budget: budget)
    }

    /// Reads to the end.
    mutating func parse() throws(PlaylistError) -> MPD {
        while let token = try tokens.next() {
            switch token {
            case .start(let tag): try start(tag)
            case .end(let name): try end(name)
            case .text(let place): try read(place, isSection: false)
            case .section(let place): try read(place, isSection: true)
            }
        }
        guard hasRoot else { throw PlaylistError(.notAPlaylist, "There is no MPD element.") }
        guard open.isEmpty else {
            throw PlaylistError(.malformedXML, "An element does not end.", at: open.last?.name.lowerBound)
        }
        return builder.finish(links: text.links)
    }

    private mutating func start(_ tag: XMLTag) throws(PlaylistError) {
        elementCount += 1
        guard elementCount <= text.limits.elements else {
            throw PlaylistError(
                .tooManyElements, "There are more than \(text.limits.elements) elements.", at: tag.whole.lowerBound)
        }
        guard open.count < text.limits.depth else {
            throw PlaylistError(
                .tooDeep, "Elements are nested deeper than \(text.limits.depth).", at: tag.whole.lowerBound)
        }
        let element = element(of: tag)
        if open.isEmpty { try startRoot(element, tag: tag) }
        guard collected?.kind != .baseURL else {
            throw PlaylistError(.malformedXML, "An element stands inside a BaseURL.", at: tag.whole.lowerBound)
        }
        collected = nil
        text.scope = open.last?.scope ?? LinkScope()
        let attributes = try MPDAttributes(tag, in: text.bytes)
        try text.budget.spend(steps: attributes.all.count)
        try builder.start(
            element, at: tag.whole, attributes: attributes, inside: open.last?.element, in: &text)
        if let kind = element.textKind, !tag.isEmpty {
            collected = Collected(kind: kind, depth: open.count)
        } else if element.textKind != nil {
            try setText(element, link: nil)
        }
        if tag.isEmpty {
            builder.end(element, at: tag.whole)
        } else {
            open.append(
                OpenElement(
                    element: element, name: tag.name, start: tag.whole.lowerBound,
                    scope: builder.scope(in: element, inside: open.last?.element, of: text.scope)))
        }
    }

    /// The element that a tag begins; elements of other namespaces than the root's are none of an MPD.
    private func element(of tag: XMLTag) -> MPDElement {
        let local = XMLTag.localName(text.bytes, at: tag.name)
        let prefix = tag.name.lowerBound..<local.lowerBound
        let isForeign = !open.isEmpty && !text.bytes[prefix].elementsEqual(text.bytes[rootPrefix])
        // A patch has a namespace of its own, and elements of the MPD in it.
        return isForeign && open.first?.element != .patch ? .other : MPDElement(text.bytes, name: local)
    }

    private mutating func startRoot(_ element: MPDElement, tag: XMLTag) throws(PlaylistError) {
        guard !hasRoot, element == .mpd || element == .patch else {
            throw PlaylistError(.notAPlaylist, "The root element is not MPD.", at: tag.whole.lowerBound)
        }
        hasRoot = true
        rootPrefix = tag.name.lowerBound..<XMLTag.localName(text.bytes, at: tag.name).lowerBound
        builder.startRoot(
            element, prefix: text.bytes.text(rootPrefix),
            contentStart: tag.isEmpty ? nil : tag.whole.upperBound)
    }

    private mutating func end(_ name: Range<Int>) throws(PlaylistError) {
        guard let last = open.popLast(), last.name.count == name.count,
            text.bytes[last.name].elementsEqual(text.bytes[name])
        else {
            throw PlaylistError(.malformedXML, "An end tag belongs to no open element.", at: name.lowerBound)
        }
        if let collected, collected.depth == open.count {
            self.collected = nil
            text.scope = open.last?.scope ?? LinkScope()
            let link = try collected.place.map { place throws(PlaylistError) in
                try text.addLink(collected.kind, at: place, in: collected.hasSections ? .xmlSections : .xmlText)
            }
            try setText(last.element, link: link ?? nil)
        }
        builder.end(last.element, at: last.start..<tokens.position)
    }

    /// The text of an element in the innermost open one is known.
    private mutating func setText(_ element: MPDElement, link: Int?) throws(PlaylistError) {
        try builder.setText(element, link: link, inside: open.last?.element)
    }

    /// A piece of text.
    private mutating func read(_ place: Range<Int>, isSection: Bool) throws(PlaylistError) {
        if open.isEmpty, !isSection, !text.bytes[place].allSatisfy(\.isSpace) {
            throw PlaylistError(.malformedXML, "There is text outside of the root element.", at: place.lowerBound)
        }
        guard let collected else { return }
        // What stands between two pieces is an instruction.
        self.collected?.hasSections = collected.hasSections || isSection || collected.place != nil
        self.collected?.place = (collected.place?.lowerBound ?? place.lowerBound)..<place.upperBound
    }
}

/// The elements of an MPD that are read, by their local names.
enum MPDElement: Hashable {
    case mpd, patch, period, adaptationSet, representation
    case segmentTemplate, segmentList, segmentBase, segmentTimeline, run, segmentURL
    case initialization, representationIndex, bitstreamSwitching
    case baseURL, location, patchLocation, contentSteering, importedMPD
    case clock, contentProtection, initializationSet
    /// `SupplementalProperty` or `EssentialProperty`.
    case property
    /// `InsertPresentation` and its kin: another MPD to play in between.
    case alternative
    case other

    init(_ bytes: [UInt8], name: Range<Int>) {
        self = Self.names.first { bytes.matches(name, text: $0.0) }?.1 ?? .other
    }

    /// What the text of the element names.
    var textKind: LinkKind? {
        switch self {
        case .baseURL: .baseURL
        case .location: .location
        case .patchLocation: .patchLocation
        case .contentSteering: .steering
        case .importedMPD: .importedMPD
        default: nil
        }
    }

    private static let names: [(StaticString, MPDElement)] = [
        ("S", .run), ("SegmentURL", .segmentURL), ("BaseURL", .baseURL), ("Representation", .representation),
        ("SegmentTemplate", .segmentTemplate), ("SegmentList", .segmentList), ("SegmentBase", .segmentBase),
        ("SegmentTimeline", .segmentTimeline), ("Initialization", .initialization),
        ("RepresentationIndex", .representationIndex), ("BitstreamSwitching", .bitstreamSwitching),
        ("AdaptationSet", .adaptationSet), ("Period", .period), ("MPD", .mpd), ("Patch", .patch),
        ("Location", .location), ("PatchLocation", .patchLocation), ("ContentSteering", .contentSteering),
        ("ImportedMPD", .importedMPD), ("UTCTiming", .clock), ("ContentProtection", .contentProtection),
        ("SupplementalProperty", .property), ("EssentialProperty", .property),
        ("InitializationSet", .initializationSet), ("InsertPresentation", .alternative),
        ("ReplacePresentation", .alternative),
        ("OverwritePresentation", .alternative),
    ]
}

/// The attributes of one element, read by name.
struct MPDAttributes {
    private let bytes: [UInt8]
    let all: [XMLTag.Attribute]

    init(_ tag: XMLTag, in bytes: [UInt8]) throws(PlaylistError) {
        self.bytes = bytes
        all = try tag.allAttributes(bytes)
    }

    /// The attribute of this name, which has no prefix.
    func attribute(_ name: StaticString) -> XMLTag.Attribute? {
        all.first { bytes.matches($0.name, text: name) }
    }

    /// Where the attribute of this name is, with its name and its quotation marks.
    func place(_ name: StaticString) -> Range<Int>? {
        attribute(name).map { $0.name.lowerBound..<$0.value.upperBound + 1 }
    }

    /// The value with its references decoded.
    func string(_ name: StaticString) -> String? {
        attribute(name).map { attribute in
            bytes[attribute.value].contains(UInt8(ascii: "&"))
                ? String(decoding: XMLText(bytes, at: attribute.value).value, as: UTF8.self)
                : bytes.text(attribute.value)
        }
    }

    /// A number from 0 to 2^53.
    func integer(_ name: StaticString) -> Int64? {
        attribute(name).flatMap { Number.integer(bytes, at: bytes.trimmed($0.value)) }
    }

    /// A number from −2^53 to 2^53.
    func signedInteger(_ name: StaticString) -> Int64? {
        guard let place = attribute(name).map({ bytes.trimmed($0.value) }), !place.isEmpty else { return nil }
        guard bytes[place.lowerBound] == UInt8(ascii: "-") else { return Number.integer(bytes, at: place) }
        return Number.integer(bytes, at: place.lowerBound + 1..<place.upperBound).map { -$0 }
    }

    /// A duration in seconds.
    func seconds(_ name: StaticString) -> Double? {
        attribute(name).flatMap { XMLDuration.seconds(bytes, at: bytes.trimmed($0.value)) }
    }

    /// `first-last`, both inclusive (ISO/IEC 23009-1 §5.3.9.2.2); `first-` reaches to the end.
    func extent(_ name: StaticString) -> ByteExtent? {
        guard let place = attribute(name).map({ bytes.trimmed($0.value) }),
            let dash = bytes[place].firstIndex(of: UInt8(ascii: "-")),
            let first = Number.integer(bytes, at: place.lowerBound..<dash)
        else { return nil }
        if dash + 1 == place.upperBound { return .from(first) }
        guard let last = Number.integer(bytes, at: dash + 1..<place.upperBound), last >= first else { return nil }
        return .bytes(count: last - first + 1, at: first)
    }

    /// `xlink:href`, whatever prefix stands for the namespace.
    var remote: XMLTag.Attribute? {
        all.first { attribute in
            let local = XMLTag.localName(bytes, at: attribute.name)
            return local.lowerBound > attribute.name.lowerBound && bytes.matches(local, text: "href")
        }
    }
}
