/// Reads `EXT-X-KEY` and `EXT-X-SESSION-KEY` (rfc8216bis §4.4.4.4, §4.4.6.5).
enum KeyReader {
    static func read(_ value: Range<Int>, kind: LinkKind, in text: inout HLSText) throws(PlaylistError) -> Key {
        try text.budget.keep(Key.self)
        var key = Key(line: text.line.whole)
        var attributes = AttributeReader(text.bytes, at: value)
        while let attribute = attributes.next() {
            switch text.name(attribute) {
            case "METHOD": key.method = Key.Method(try text.string(attribute))
            case "URI": key.link = try text.addLink(kind, attribute: attribute) ?? key.link
            case "IV": key.initializationVector = try text.string(attribute)
            case "KEYFORMAT": key.format = try text.string(attribute)
            case "KEYFORMATVERSIONS": key.formatVersions = try text.string(attribute)
            default: break
            }
        }
        text.note(attributes)
        return key
    }
}
