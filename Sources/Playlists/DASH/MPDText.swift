/// The text that an MPD is read from, and the links found in it.
struct MPDText {
    let bytes: [UInt8]
    let budget: PlaylistBudget
    private(set) var links: [Link] = []
    /// Where the next link stands.
    var scope = LinkScope()

    init(_ bytes: [UInt8], budget: PlaylistBudget) { (self.bytes, self.budget) = (bytes, budget) }

    var limits: PlaylistLimits { budget.limits }

    /// Adds a link and returns its index; `nil` if nothing but white space is there.
    mutating func addLink(
        _ kind: LinkKind, at place: Range<Int>, in context: LinkContext
    ) throws(PlaylistError) -> Int? {
        let place = trimmed(place)
        guard !place.isEmpty else { return nil }
        guard links.count < limits.links else {
            throw PlaylistError(.tooManyLinks, "There are more than \(limits.links) links.", at: place.lowerBound)
        }
        try budget.keep(Link.self)
        var link = Link(kind, at: place, in: context)
        link.scope = scope
        if context == .xmlSections {
            let content = XMLText.content(bytes, at: place)
            guard !content.isEmpty else { return nil }
            link.decoded = content
        } else if bytes[place].contains(UInt8(ascii: "&")) {
            link.decoded = XMLText(bytes, at: place).value
        }
        if link.value(in: bytes).contains(where: \.isControl) { link.obstacle = .controlCharacter }
        links.append(link)
        return links.count - 1
    }

    /// Says which bytes a link uses.
    mutating func setExtent(_ extent: ByteExtent, of link: Int) { links[link].extent = extent }

    /// `place` without white space at both ends.
    private func trimmed(_ place: Range<Int>) -> Range<Int> {
        var (start, end) = (place.lowerBound, place.upperBound)
        while start < end, bytes[start].isSpace { start += 1 }
        while end > start, bytes[end - 1].isSpace { end -= 1 }
        return start..<end
    }
}
