/// A start tag, and where its parts stand.
struct XMLTag {
    /// The name, with its namespace prefix.
    let name: Range<Int>
    /// Everything after the name.
    let attributes: Range<Int>
    /// Whether it ends with `/>`.
    let isEmpty: Bool
    /// From `<` to `>`.
    let whole: Range<Int>

    /// An attribute of the tag.
    struct Attribute {
        /// The name, with its namespace prefix.
        let name: Range<Int>
        /// The value as written, without quotation marks.
        let value: Range<Int>
        /// The quotation mark.
        let quote: UInt8
    }

    /// All attributes, in the order of the text.
    func allAttributes(_ bytes: [UInt8]) throws(PlaylistError) -> [Attribute] {
        var result: [Attribute] = []
        var position = attributes.lowerBound
        let end = attributes.upperBound
        while true {
            while position < end, bytes[position].isSpace { position += 1 }
            guard position < end else { return result }
            let start = position
            while position < end, !bytes[position].isSpace, bytes[position] != UInt8(ascii: "=") { position += 1 }
            let name = start..<position
            while position < end, bytes[position].isSpace { position += 1 }
            guard !name.isEmpty, position < end, bytes[position] == UInt8(ascii: "=") else { throw malformed(start) }
            position += 1
            while position < end, bytes[position].isSpace { position += 1 }
            guard position < end, bytes[position] == UInt8(ascii: "\"") || bytes[position] == UInt8(ascii: "'"),
                let close = bytes[(position + 1)..<end].firstIndex(of: bytes[position])
            else { throw malformed(start) }
            result.append(Attribute(name: name, value: position + 1..<close, quote: bytes[position]))
            position = close + 1
        }
    }

    /// The name without its namespace prefix.
    static func localName(_ bytes: [UInt8], at name: Range<Int>) -> Range<Int> {
        guard let colon = bytes[name].lastIndex(of: UInt8(ascii: ":")) else { return name }
        return colon + 1..<name.upperBound
    }

    private func malformed(_ offset: Int) -> PlaylistError {
        PlaylistError(.malformedXML, "An attribute has no name or no quoted value.", at: offset)
    }
}
