/// Reads an MPD in one pass: checks that elements are nested, and hands each to the builder.
struct MPDParser {
    private struct OpenElement {
        let element: MPDElement
        let name: Range<Int>
        /// The `BaseURL` of the levels around it.
        let outerBase: Int?
        /// Its own first `BaseURL`, once one is read that is not empty.
        var ownBase: Int?
        /// Whether its first `BaseURL` is read.
        var hasBase = false

        var base: Int? { ownBase ?? outerBase }
    }

    /// The text of an element that names something.
    private struct Collected {
        let kind: LinkKind
        let depth: Int
        var place: Range<Int>?
        var isSplit = false
    }

    private var text: MPDText
    private var tokens: XMLTokenizer
    private var builder: MPDBuilder
    private var open: [OpenElement] = []
    private var elementCount = 0
    private var hasRoot = false
    private var collected: Collected?

    init(_ bytes: [UInt8], limits: PlaylistLimits) throws(PlaylistError) {
        text = MPDText(bytes, limits: limits)
        tokens = try XMLTokenizer(bytes, limits: limits)
        builder = MPDBuilder(bytes)
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
        let element = MPDElement(text.bytes, XMLTag.localName(text.bytes, tag.name))
        if open.isEmpty { try startRoot(element, tag) }
        collected?.isSplit = true
        text.base = open.last?.base
        let attributes = try MPDAttributes(tag, in: text.bytes)
        try builder.start(element, attributes, inside: open.last?.element, &text)
        if let kind = element.textKind, !tag.isEmpty {
            collected = Collected(kind: kind, depth: open.count)
        } else if element.textKind != nil {
            setText(element, link: nil)
        }
        if tag.isEmpty {
            builder.end(element)
        } else {
            open.append(OpenElement(element: element, name: tag.name, outerBase: open.last?.base))
        }
    }

    private mutating func startRoot(_ element: MPDElement, _ tag: XMLTag) throws(PlaylistError) {
        guard !hasRoot, element == .mpd || element == .patch else {
            throw PlaylistError(.notAPlaylist, "The root element is not MPD.", at: tag.whole.lowerBound)
        }
        hasRoot = true
        let local = XMLTag.localName(text.bytes, tag.name)
        builder.startRoot(
            element, prefix: text.bytes.text(tag.name.lowerBound..<local.lowerBound),
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
            let obstacle: PlaylistError.Code? = collected.isSplit ? .splitText : nil
            // A base is relative to the levels around its own; the first of several alternatives counts.
            text.base = open.last?.outerBase
            let link = try collected.place.map { place throws(PlaylistError) in
                try text.addLink(collected.kind, at: place, in: .xmlText, obstacle: obstacle)
            }
            setText(last.element, link: link ?? nil)
        }
        builder.end(last.element)
    }

    /// The text of an element in the innermost open one is known; of alternative bases the first counts.
    private mutating func setText(_ element: MPDElement, link: Int?) {
        builder.setText(element, link: link, inside: open.last?.element)
        guard element == .baseURL, let level = open.indices.last, !open[level].hasBase else { return }
        open[level].hasBase = true
        open[level].ownBase = link
    }

    /// A piece of text; one that consists of several is no link that can be edited.
    private mutating func read(_ place: Range<Int>, isSection: Bool) throws(PlaylistError) {
        if open.isEmpty, !isSection, !text.bytes[place].allSatisfy(\.isSpace) {
            throw PlaylistError(.malformedXML, "There is text outside of the root element.", at: place.lowerBound)
        }
        guard let collected else { return }
        self.collected?.isSplit = collected.isSplit || isSection
        self.collected?.place = (collected.place?.lowerBound ?? place.lowerBound)..<place.upperBound
    }
}
