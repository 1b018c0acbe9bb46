/// Splits an XML document into tags and texts with their places (XML 1.0 §2 and §3).
///
/// Reads what an MPD needs: elements, attributes, text, CDATA, comments and processing instructions. A document type
/// declaration is refused, so there are no entities but the five predefined ones.
struct XMLTokenizer {
    enum Token {
        /// A start tag; `isEmpty` if it ends with `/>` and has no end tag.
        case start(XMLTag)
        /// An end tag.
        case end(name: Range<Int>)
        /// Text with its references, white space included.
        case text(Range<Int>)
        /// A CDATA section or a comment, delimiters included.
        case section(Range<Int>)
    }

    private let bytes: [UInt8]
    private let budget: PlaylistBudget
    /// Where the next token begins.
    private(set) var position = 0

    /// Throws for encodings other than UTF-8, which a byte order mark or a NUL tells (XML 1.0 Appendix F).
    init(_ bytes: [UInt8], budget: PlaylistBudget) throws(PlaylistError) {
        (self.bytes, self.budget) = (bytes, budget)
        if bytes.hasPrefix("\u{FEFF}", at: 0) { position = 3 }
        let isUTF16 = bytes.count > 1 && (bytes[0] == 0xFE && bytes[1] == 0xFF || bytes[0] == 0xFF && bytes[1] == 0xFE)
        if isUTF16 || bytes.prefix(4).contains(0) {
            throw PlaylistError(.encoding, "The document is not in UTF-8.", at: 0)
        }
    }

    /// The next token; `nil` at the end.
    mutating func next() throws(PlaylistError) -> Token? {
        let start = position
        let token = try read()
        try budget.spend(steps: 1 + (position - start) / PlaylistBudget.bytesPerScanningStep)
        return token
    }

    private mutating func read() throws(PlaylistError) -> Token? {
        while position < bytes.count {
            let start = position
            guard bytes[start] == UInt8(ascii: "<") else {
                while position < bytes.count, bytes[position] != UInt8(ascii: "<") { position += 1 }
                return .text(start..<position)
            }
            if bytes.hasPrefix("<!--", at: start) {
                try skip(to: "-->", from: start + 4)
                return .section(start..<position)
            }
            if bytes.hasPrefix("<![CDATA[", at: start) {
                try skip(to: "]]>", from: start + 9)
                return .section(start..<position)
            }
            if bytes.hasPrefix("<!", at: start) {
                try skipDocumentType()
                continue
            }
            if bytes.hasPrefix("<?", at: start) {
                try skip(to: "?>", from: start + 2)
                continue
            }
            return try tag()
        }
        return nil
    }

    /// Skips a document type without declarations, and throws for any other.
    ///
    /// Its external DTD is not loaded.
    private mutating func skipDocumentType() throws(PlaylistError) {
        // Declarations are tags inside this one, which `tagEnd` rejects.
        guard bytes.hasPrefix("<!DOCTYPE", at: position), let end = try? tagEnd(from: position),
            !bytes[position..<end].contains(UInt8(ascii: "["))
        else { throw PlaylistError(.documentType, "Document types with declarations are refused.", at: position) }
        position = end + 1
    }

    private mutating func tag() throws(PlaylistError) -> Token {
        let start = position
        let end = try tagEnd(from: start)
        position = end + 1
        let isEnd = bytes.hasPrefix("</", at: start)
        let nameStart = start + (isEnd ? 2 : 1)
        var nameEnd = nameStart
        while nameEnd < end, !bytes[nameEnd].isSpace, bytes[nameEnd] != UInt8(ascii: "/") { nameEnd += 1 }
        guard nameEnd > nameStart else { throw malformed("A tag has no name.", at: start) }
        if isEnd {
            guard bytes[nameEnd..<end].allSatisfy(\.isSpace) else {
                throw malformed("An end tag has attributes.", at: start)
            }
            return .end(name: nameStart..<nameEnd)
        }
        let isEmpty = end > nameEnd && bytes[end - 1] == UInt8(ascii: "/")
        return .start(
            XMLTag(
                name: nameStart..<nameEnd, attributes: nameEnd..<(isEmpty ? end - 1 : end), isEmpty: isEmpty,
                whole: start..<end + 1))
    }

    /// Offset of the `>` that is not inside a quoted value.
    private func tagEnd(from start: Int) throws(PlaylistError) -> Int {
        let limits = budget.limits
        var quote: UInt8 = 0
        for index in start + 1..<bytes.count {
            let byte = bytes[index]
            guard index - start <= limits.lineLength else {
                throw PlaylistError(.lineTooLong, "The tag is longer than \(limits.lineLength) bytes.", at: start)
            }
            guard byte != UInt8(ascii: "<") else { throw malformed("A tag holds \"<\".", at: index) }
            if quote != 0 {
                if byte == quote { quote = 0 }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return index
            }
        }
        throw malformed("A tag does not end.", at: start)
    }

    private mutating func skip(to end: StaticString, from start: Int) throws(PlaylistError) {
        guard start <= bytes.count, let place = bytes.firstPlace(of: end, in: start..<bytes.count) else {
            throw malformed("A comment, section or instruction does not end.", at: position)
        }
        position = place + end.utf8CodeUnitCount
    }

    private func malformed(_ message: String, at offset: Int) -> PlaylistError {
        PlaylistError(.malformedXML, message, at: offset)
    }
}

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
