/// Replaces chosen places of a playlist; every other byte comes out as it went in.
///
///     var editor = PlaylistEditor(list.bytes)
///     for link in list.links { try editor.replace(link, with: "/https/host/path") }
///     let edited = try editor.edited()
package struct PlaylistEditor: Sendable {
    private struct Edit {
        var place: Range<Int>
        var replacement: [UInt8]
    }

    private let bytes: [UInt8]
    private let longest: Int
    private let budget: PlaylistBudget
    private var edits: [Edit] = []
    private var count: Int

    /// Creates an editor over the text of a playlist, whose edits count in `budget`; in one of their own if it is
    /// `nil`.
    package init(_ bytes: [UInt8], within budget: PlaylistBudget? = nil) {
        self.bytes = bytes
        count = bytes.count
        let budget = budget ?? PlaylistBudget(forInput: bytes.count)
        self.budget = budget
        longest = budget.limits.output(forInput: bytes.count)
    }

    /// Whether nothing was replaced, so that the text stays as it is.
    package var isUnchanged: Bool { edits.isEmpty }

    /// Length of the edited text, in bytes.
    package var editedCount: Int { count }

    /// Writes `uri` in place of a link, escaped for where the link stands.
    ///
    /// In HLS, quotation marks in quoted strings, white space, control characters and `{$` are percent-encoded. In
    /// XML, `&`, `<`, `>` and quotation marks become references. A link that is replaced with itself stays as
    /// written. In XML the tail that both have in common does so, too. Throws `misplacedEdit` for a place outside the
    /// text, and `outputTooLong`.
    package mutating func replace(_ link: Link, with uri: String) throws(PlaylistError) {
        try check(link.place)
        let new = Array(uri.utf8)
        switch link.context {
        case .line, .quotedString:
            if new.elementsEqual(bytes[link.place]) { return }
            try add(link.place, replacement: HLSEscape.escaped(new, isQuoted: link.context == .quotedString))
        case .xmlAttribute(let quote): try replaceXML(link, with: new, quote: quote)
        case .xmlText: try replaceXML(link, with: new, quote: nil)
        case .xmlSections:
            if new == link.decoded { return }
            try add(link.place, replacement: XMLEscape.escaped(new[...], quote: nil))
        }
    }

    /// Writes a `BaseURL` of the whole presentation, which has none, in front of everything in it.
    ///
    /// Throws `misplacedEdit` if the root element is empty.
    package mutating func insertBaseURL(_ uri: String, in mpd: MPD) throws(PlaylistError) {
        guard let offset = mpd.contentStart else {
            throw PlaylistError(.misplacedEdit, "There is no place for a BaseURL: the MPD is empty.")
        }
        let name = Array("\(mpd.prefix)BaseURL>".utf8)
        let text = XMLEscape.escaped(Array(uri.utf8)[...], quote: nil)
        try check(offset..<offset)
        try add(offset..<offset, replacement: Array("<".utf8) + name + text + Array("</".utf8) + name)
    }

    /// Writes the value of a variable in place of the name of a query parameter, for a player that does not know the
    /// query; leaves a value alone that no quoted string can hold.
    package mutating func spellOut(_ variable: QueryVariable) throws(PlaylistError) {
        guard let definition = variable.definition else { return }
        try check(variable.place)
        try add(variable.place, replacement: Array(definition.utf8))
    }

    /// Takes out a part of the text, such as whole lines.
    package mutating func remove(_ place: Range<Int>) throws(PlaylistError) {
        try check(place)
        try add(place, replacement: [])
    }

    /// Puts `text` before the byte at `offset`, as it is.
    package mutating func insert(_ text: String, at offset: Int) throws(PlaylistError) {
        try check(offset..<offset)
        try add(offset..<offset, replacement: Array(text.utf8))
    }

    /// The edited text.
    ///
    /// Throws `misplacedEdit` if two edits overlap.
    package func edited() throws(PlaylistError) -> [UInt8] {
        guard !edits.isEmpty else { return bytes }
        var result: [UInt8] = []
        result.reserveCapacity(max(0, count))
        var copied = 0
        for edit in ordered {
            guard edit.place.lowerBound >= copied else {
                throw PlaylistError(.misplacedEdit, "Two edits overlap.", at: edit.place.lowerBound)
            }
            result += bytes[copied..<edit.place.lowerBound]
            result += edit.replacement
            copied = edit.place.upperBound
        }
        result += bytes[copied...]
        return result
    }

    /// By place; at one place, insertions come first, in the order in which they came.
    private var ordered: [Edit] {
        if zip(edits, edits.dropFirst()).allSatisfy({ $0.place.lowerBound < $1.place.lowerBound }) { return edits }
        func rank(_ item: (offset: Int, element: Edit)) -> (Int, Int, Int) {
            (item.element.place.lowerBound, item.element.place.isEmpty ? 0 : 1, item.offset)
        }
        return edits.enumerated().sorted { rank($0) < rank($1) }.map(\.element)
    }

    private func check(_ place: Range<Int>) throws(PlaylistError) {
        guard place.lowerBound >= 0, place.upperBound <= bytes.count else {
            throw PlaylistError(.misplacedEdit, "The place lies outside the text.")
        }
    }

    private mutating func add(_ place: Range<Int>, replacement: [UInt8]) throws(PlaylistError) {
        let change = replacement.count - place.count
        guard count + change <= longest else {
            throw PlaylistError(
                .outputTooLong, "The edited playlist would be longer than \(longest) bytes.", at: place.lowerBound)
        }
        try budget.spend(bytes: replacement.count + MemoryLayout<Edit>.stride)
        count += change
        edits.append(Edit(place: place, replacement: replacement))
    }

    private mutating func replaceXML(_ link: Link, with new: [UInt8], quote: UInt8?) throws(PlaylistError) {
        let old = XMLText(bytes, at: link.place)
        var (cut, newEnd) = (old.value.count, new.count)
        while cut > 0, newEnd > 0, old.value[cut - 1] == new[newEnd - 1] {
            cut -= 1
            newEnd -= 1
        }
        guard cut > 0 || newEnd > 0 else { return }
        // Not inside a reference that stands for several bytes.
        while cut > 0, cut < old.origins.count, old.origins[cut] == old.origins[cut - 1] {
            cut += 1
            newEnd += 1
        }
        let tail = cut < old.origins.count ? old.origins[cut] : link.place.upperBound
        try add(link.place.lowerBound..<tail, replacement: XMLEscape.escaped(new[..<newEnd], quote: quote))
    }
}
