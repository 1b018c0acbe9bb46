/// Reads an HLS playlist in one pass: lines, tags, and the readers that know the tags.
struct HLSParser {
    private var text: HLSText
    private var lines: LineReader
    private let context: HLSContext
    private var playlist: HLSPlaylist
    private var multivariant = MultivariantReader()
    private var media = MediaReader()
    private var hasMultivariantTag = false
    private var hasMediaTag = false

    init(_ bytes: [UInt8], context: HLSContext, budget: PlaylistBudget, variables: Variables = Variables()) {
        text = HLSText(bytes, budget: budget, variables: variables)
        lines = LineReader(bytes, budget: budget)
        playlist = HLSPlaylist(reading: bytes, within: budget)
        self.context = context
    }

    /// Reads to the end.
    mutating func parse() throws(PlaylistError) -> HLSPlaylist {
        while let line = try lines.next() {
            guard !line.content.isEmpty else { continue }
            text.line = line
            text.lineNumber = lines.number
            if text.bytes[line.content.lowerBound] != UInt8(ascii: "#") {
                try readURI(line)
            } else if text.bytes.hasPrefix("#EXT", at: line.content.lowerBound) {
                try readTag(line)
            }
        }
        playlist.kind =
            switch (hasMultivariantTag, hasMediaTag) {
            case (true, false): .multivariant
            case (false, true): .media
            case (true, true): .mixed
            case (false, false): .untyped
            }
        multivariant.finish()
        playlist.multivariant = multivariant.playlist
        playlist.media = media.finish()
        playlist.variables = text.variables
        playlist.queryVariables = text.queryVariables
        playlist.links = text.links
        playlist.problems = text.problems
        return playlist
    }

    private mutating func readURI(_ line: LineReader.Line) throws(PlaylistError) {
        if try !multivariant.readURI(line, in: &text) { try media.readURI(line, in: &text) }
    }

    private mutating func readTag(_ line: LineReader.Line) throws(PlaylistError) {
        let (start, end) = (line.content.lowerBound + 1, line.content.upperBound)
        var nameEnd = start
        while nameEnd < end, text.bytes[nameEnd] != UInt8(ascii: ":") { nameEnd += 1 }
        guard let tag = HLSTag(text.bytes, at: start..<nameEnd) else { return }
        let value = text.bytes.trimmed(min(nameEnd + 1, end)..<end)
        switch tag.kind {
        case .multivariant:
            hasMultivariantTag = true
            try multivariant.read(tag, value: value, in: &text)
        case .media:
            hasMediaTag = true
            try media.read(tag, value: value, in: &text)
        default: try readCommon(tag, value: value)
        }
    }

    /// Tags of both kinds of playlist (rfc8216bis §4.4.1, §4.4.2).
    private mutating func readCommon(_ tag: HLSTag, value: Range<Int>) throws(PlaylistError) {
        switch tag {
        case .version: if let number = text.integer(value) { playlist.version = number }
        case .independentSegments: playlist.hasIndependentSegments = true
        case .start: readStart(value)
        case .define: try DefinitionReader(context).read(value, in: &text)
        default: break
        }
    }

    private mutating func readStart(_ value: Range<Int>) {
        var attributes = AttributeReader(text.bytes, at: value)
        var offset: Double?
        var isPrecise = false
        while let attribute = attributes.next() {
            switch text.name(attribute) {
            case "TIME-OFFSET": offset = text.decimal(attribute.value, isSigned: true)
            case "PRECISE": isPrecise = text.isYes(attribute)
            default: break
            }
        }
        text.note(attributes)
        if let offset { playlist.start = HLSPlaylist.Start(offset: offset, isPrecise: isPrecise) }
    }
}
