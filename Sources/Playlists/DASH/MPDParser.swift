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
