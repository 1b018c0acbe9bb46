/// The text that the readers of tags share: its links, its variables, its faults, and the line that is being read.
struct HLSText {
    let bytes: [UInt8]
    let budget: PlaylistBudget
    /// The line being read.
    var line = LineReader.Line(content: 0..<0, whole: 0..<0)
    /// Its number, from 1.
    var lineNumber = 0
    private(set) var links: [Link] = []
    /// Variables of the URL's query.
    var queryVariables: [QueryVariable] = []
    private(set) var problems: [PlaylistError] = []
    private var expander: VariableExpander

    /// Creates a text; `variables` were defined by earlier lines.
    init(_ bytes: [UInt8], budget: PlaylistBudget, variables: Variables) {
        (self.bytes, self.budget) = (bytes, budget)
        expander = VariableExpander(budget, count: bytes.count, variables: variables)
    }

    var limits: PlaylistLimits { budget.limits }

    /// Variables of the lines read so far.
    var variables: Variables { expander.variables }

    /// Keeps a fault of the current line.
    mutating func note(_ code: PlaylistError.Code, _ message: String, at offset: Int? = nil) {
        guard problems.count < limits.problems else { return }
        problems.append(PlaylistError(code, message, at: offset ?? line.whole.lowerBound, line: lineNumber))
    }

    /// Keeps the faults that were found while reading attributes.
    mutating func note(_ attributes: AttributeReader) {
        if attributes.isMalformed { note(.malformedAttributes, "The attribute list is malformed.") }
    }

    /// Defines a variable; of two with one name the first counts.
    mutating func define(_ name: [UInt8], as value: [UInt8]) {
        if !expander.variables.define(name, as: value) {
            note(.duplicateVariable, "The variable is defined a second time; the first definition counts.")
        }
    }

    /// Adds a link and returns its index; `nil` for an empty one, which names the playlist itself.
    ///
    /// A link that cannot be read is added with its ``Link/obstacle``.
    mutating func addLink(
        _ kind: LinkKind, at place: Range<Int>, in context: LinkContext, extent: ByteExtent = .whole
    ) throws(PlaylistError) -> Int? {
        guard !place.isEmpty else { return nil }
        guard links.count < limits.links else {
            throw PlaylistError(
                .tooManyLinks, "There are more than \(limits.links) links.", at: place.lowerBound, line: lineNumber)
        }
        try budget.keep(Link.self)
        var link = Link(kind, at: place, in: context, extent: extent)
        let (hasControl, mayExpand) = bytes[place].withUnsafeBufferPointer { text in
            var (hasControl, hasBrace) = (false, false)
            for byte in text {
                hasControl = hasControl || byte.isControl
                hasBrace = hasBrace || byte == UInt8(ascii: "{")
            }
            return (hasControl, hasBrace)
        }
        if hasControl { link.obstacle = .controlCharacter }
        if link.obstacle != nil {
            note(.controlCharacter, "The link has control characters.", at: place.lowerBound)
        } else if mayExpand {
            switch try expander.expand(bytes, at: place) {
            case .unchanged: break
            case .expanded(let value): link.decoded = value
            case .undefined:
                link.obstacle = .undefinedVariable
                note(.undefinedVariable, "No earlier line defines the variable.", at: place.lowerBound)
            case .tooLong:
                link.obstacle = .expansionTooLong
                note(.expansionTooLong, "The link is too long with its variables expanded.")
            }
        }
        links.append(link)
        return links.count - 1
    }

    /// Adds the link of a quoted attribute; an unquoted one is malformed and left alone.
    mutating func addLink(
        _ kind: LinkKind, attribute: AttributeSpan, extent: ByteExtent = .whole
    ) throws(PlaylistError) -> Int? {
        guard attribute.isQuoted else {
            note(.malformedAttributes, "The link is not quoted.", at: attribute.value.lowerBound)
            return nil
        }
        return try addLink(kind, at: attribute.value, in: .quotedString, extent: extent)
    }

    /// Says which bytes a link uses, once its other attributes are read.
    mutating func setExtent(_ extent: ByteExtent, of link: Int) { links[link].extent = extent }

    /// The value of an attribute with its variables expanded; as written if that is not possible.
    mutating func string(_ attribute: AttributeSpan) throws(PlaylistError) -> String {
        guard attribute.isQuoted else { return bytes.text(attribute.value) }
        switch try expander.expand(bytes, at: attribute.value) {
        case .unchanged: return bytes.text(attribute.value)
        case .expanded(let value): return String(decoding: value, as: UTF8.self)
        case .undefined:
            note(.undefinedVariable, "No earlier line defines the variable.", at: attribute.value.lowerBound)
        case .tooLong:
            note(.expansionTooLong, "The attribute is too long with its variables expanded.")
        }
        return bytes.text(attribute.value)
    }

    /// The name of an attribute.
    func name(_ attribute: AttributeSpan) -> String { bytes.text(attribute.name) }

    /// Whether the value is `YES`.
    func isYes(_ attribute: AttributeSpan) -> Bool { bytes.matches(attribute.value, text: "YES") }

    /// A number of an attribute; `nil`, and a noted fault, if it is malformed or above 2^53.
    mutating func integer(_ place: Range<Int>) -> Int64? {
        guard let number = Number.integer(bytes, at: bytes.trimmed(place)) else {
            note(.invalidNumber, "The number is malformed or too large.", at: place.lowerBound)
            return nil
        }
        return number
    }

    /// A number with a fraction; `nil`, and a noted fault, if it is malformed.
    mutating func decimal(_ place: Range<Int>, isSigned: Bool = false) -> Double? {
        guard let number = Number.decimal(bytes, at: bytes.trimmed(place), isSigned: isSigned) else {
            note(.invalidNumber, "The number is malformed or too large.", at: place.lowerBound)
            return nil
        }
        return number
    }

    /// `n[@o]`: a length, and an offset if there is one (rfc8216bis §4.4.4.2).
    mutating func byteRange(_ place: Range<Int>) -> (count: Int64, offset: Int64?)? {
        let place = bytes.trimmed(place)
        let at = bytes[place].firstIndex(of: UInt8(ascii: "@"))
        guard let count = integer(place.lowerBound..<(at ?? place.upperBound)) else { return nil }
        guard let at else { return (count, nil) }
        return integer(at + 1..<place.upperBound).map { (count, $0) }
    }
}

/// The tags of an HLS playlist that are read; all others are passed on unread.
enum HLSTag: Sendable {
    case playlist, version, independentSegments, start, define
    case media, streamInf, iFrameStreamInf, imageStreamInf, sessionData, sessionKey, contentSteering
    case inf, byteRange, discontinuity, key, map, programDateTime, gap, bitrate, part
    case targetDuration, mediaSequence, discontinuitySequence, endList, playlistType, iFramesOnly, imagesOnly, tiles
    case partInf, serverControl, skip, preloadHint, renditionReport, dateRange, prefetch

    /// Reads the name at `place`, without the `#` (rfc8216bis §4.1: names are case-sensitive).
    init?(_ bytes: [UInt8], at place: Range<Int>) {
        if bytes.matches(place, text: "EXTINF") {
            self = .inf
            return
        }
        for (name, tag) in Self.names where bytes.matches(place, text: name) {
            self = tag
            return
        }
        return nil
    }

    /// Whether only one of the two kinds of playlist may have it; `nil` for both (rfc8216bis §4.4).
    var kind: HLSPlaylist.Kind? {
        switch self {
        case .playlist, .version, .independentSegments, .start, .define: nil
        case .media, .streamInf, .iFrameStreamInf, .imageStreamInf, .sessionData, .sessionKey, .contentSteering:
            .multivariant
        default: .media
        }
    }

    private static let names: [(StaticString, HLSTag)] = [
        ("EXT-X-PART", .part), ("EXT-X-BYTERANGE", .byteRange), ("EXT-X-PROGRAM-DATE-TIME", .programDateTime),
        ("EXT-X-DISCONTINUITY", .discontinuity), ("EXT-X-GAP", .gap), ("EXT-X-BITRATE", .bitrate),
        ("EXT-X-KEY", .key), ("EXT-X-MAP", .map), ("EXT-X-DATERANGE", .dateRange),
        ("EXT-X-STREAM-INF", .streamInf), ("EXT-X-MEDIA", .media), ("EXT-X-I-FRAME-STREAM-INF", .iFrameStreamInf),
        ("EXT-X-IMAGE-STREAM-INF", .imageStreamInf), ("EXT-X-SESSION-DATA", .sessionData),
        ("EXT-X-SESSION-KEY", .sessionKey), ("EXT-X-CONTENT-STEERING", .contentSteering),
        ("EXTM3U", .playlist), ("EXT-X-VERSION", .version), ("EXT-X-INDEPENDENT-SEGMENTS", .independentSegments),
        ("EXT-X-START", .start), ("EXT-X-DEFINE", .define),
        ("EXT-X-TARGETDURATION", .targetDuration), ("EXT-X-MEDIA-SEQUENCE", .mediaSequence),
        ("EXT-X-DISCONTINUITY-SEQUENCE", .discontinuitySequence), ("EXT-X-ENDLIST", .endList),
        ("EXT-X-PLAYLIST-TYPE", .playlistType), ("EXT-X-I-FRAMES-ONLY", .iFramesOnly),
        ("EXT-X-IMAGES-ONLY", .imagesOnly), ("EXT-X-TILES", .tiles), ("EXT-X-PART-INF", .partInf),
        ("EXT-X-SERVER-CONTROL", .serverControl), ("EXT-X-SKIP", .skip), ("EXT-X-PRELOAD-HINT", .preloadHint),
        ("EXT-X-RENDITION-REPORT", .renditionReport), ("EXT-X-PREFETCH", .prefetch),
    ]
}

/// Splits a text into lines that end with LF, CR LF or CR, without a copy.
///
/// Players differ in which of the three they accept; a line that one of them sees must be seen here.
struct LineReader {
    /// A line: where it stands without its ends and the blanks around it, and with them.
    struct Line {
        /// The characters, without blanks at both ends.
        var content: Range<Int>
        /// Everything, terminator included.
        var whole: Range<Int>
    }

    private let bytes: [UInt8]
    private let budget: PlaylistBudget
    private var position = 0
    /// Number of the line read last, from 1.
    private(set) var number = 0

    init(_ bytes: [UInt8], budget: PlaylistBudget) {
        self.bytes = bytes
        self.budget = budget
        if bytes.hasPrefix("\u{FEFF}", at: 0) { position = 3 }
    }

    /// The next line; `nil` at the end.
    mutating func next() throws(PlaylistError) -> Line? {
        let start = position
        let count = bytes.count
        guard start < count else { return nil }
        number += 1
        let limits = budget.limits
        guard number <= limits.lines else {
            throw PlaylistError(.tooManyLines, "There are more than \(limits.lines) lines.", at: start, line: number)
        }
        let end = bytes.withUnsafeBufferPointer { buffer in
            var end = start
            // One comparison for nearly every byte: few are below CR.
            while end < count, buffer[end] > 0x0D || buffer[end] != 0x0A && buffer[end] != 0x0D { end += 1 }
            return end
        }
        guard end - start <= limits.lineLength else {
            throw PlaylistError(
                .lineTooLong, "The line is longer than \(limits.lineLength) bytes.", at: start, line: number)
        }
        try budget.spend(steps: 1 + (end - start) / PlaylistBudget.bytesPerScanningStep)
        position = min(end + 1, count)
        if end + 1 < count, bytes[end] == 0x0D, bytes[end + 1] == 0x0A { position = end + 2 }
        return Line(content: bytes.trimmed(start..<end), whole: start..<position)
    }
}
