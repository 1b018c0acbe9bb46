/// Writes a playlist again with only what is known of it: the tags and attributes of the specification whose values
/// have their syntax, and links to the given files.
///
/// Other parsers disagree with ours about unknown tags, unquoted links, and control characters or backslashes in
/// strings, so nothing of that is written.
struct HLSWriter {
    private let list: HLSPlaylist
    private let names: [Int: String]
    /// Indices of links by where they begin.
    private let links: [Int: Int]
    private var lines: [String] = ["#EXTM3U"]
    /// The line of a variant, which is written when its URI follows.
    private var variant: String?

    init(_ list: HLSPlaylist, links names: [Int: String]) {
        (self.list, self.names) = (list, names)
        links = Dictionary(list.links.enumerated().map { ($1.place.lowerBound, $0) }) { first, _ in first }
    }

    /// The text of the playlist; see ``HLSPlaylist/written(links:)``.
    mutating func written() throws(PlaylistError) -> [UInt8] {
        var reader = LineReader(list.bytes, budget: PlaylistBudget(forInput: list.bytes.count))
        while let line = try reader.next() {
            guard !line.content.isEmpty else { continue }
            if list.bytes[line.content.lowerBound] != UInt8(ascii: "#") {
                try addURI(line.content)
            } else if list.bytes.hasPrefix("#EXT", at: line.content.lowerBound) {
                try addTag(line.content)
            }
        }
        return Array((lines.joined(separator: "\n") + "\n").utf8)
    }

    // MARK: - Lines

    private mutating func addURI(_ place: Range<Int>) throws(PlaylistError) {
        guard let index = links[place.lowerBound] else { return }
        switch (list.links[index].kind, list.kind == .media) {
        case (.variant, false):
            if let variant, let name = names[index] { lines += [variant, escaped(name, isQuoted: false)] }
            variant = nil
        case (.segment, true), (.image, true):
            guard let name = names[index] else {
                throw PlaylistError(.misplacedEdit, "No file is given for a segment.", at: place.lowerBound)
            }
            lines.append(escaped(name, isQuoted: false))
        default: break
        }
    }

    private mutating func addTag(_ place: Range<Int>) throws(PlaylistError) {
        let start = place.lowerBound + 1
        let end = list.bytes[start..<place.upperBound].firstIndex(of: UInt8(ascii: ":")) ?? place.upperBound
        guard let tag = HLSTag(list.bytes, at: start..<end), let syntax = Self.syntaxes[tag],
            tag.kind == nil || (tag.kind == .media) == (list.kind == .media)
        else { return }
        let value = list.bytes.trimmed(min(end + 1, place.upperBound)..<place.upperBound)
        let name = "#" + list.text(start..<end)
        let line: String
        switch syntax {
        case .flag: line = name
        case .word:
            guard isBare(value, with: ".+-:@") else { return }
            line = "\(name):\(list.text(value))"
        case .duration:
            let comma = list.bytes[value].firstIndex(of: UInt8(ascii: ",")) ?? value.upperBound
            let duration = list.bytes.trimmed(value.lowerBound..<comma)
            let seconds = Number.decimal(list.bytes, at: duration) == nil ? "0" : list.text(duration)
            line = "\(name):\(seconds),\(plain(min(comma + 1, value.upperBound)..<value.upperBound))"
        case .attributes(let kinds):
            guard let attributes = try attributes(tag, at: value, kinds) else { return }
            line = "\(name):\(attributes)"
        }
        if tag == .streamInf { variant = line } else { lines.append(line) }
    }

    /// What is known of an attribute list; `nil` if the tag must go because it names no given file, or says nothing.
    private func attributes(
        _ tag: HLSTag, at value: Range<Int>, _ kinds: [String: Attribute]
    ) throws(PlaylistError) -> String? {
        var known: [(name: String, text: String)] = []
        var hasLink = false
        var reader = AttributeReader(list.bytes, at: value)
        while let attribute = reader.next() {
            if let variable = list.queryVariables.first(where: { $0.place == attribute.whole }) {
                guard let definition = variable.definition else { return nil }
                known.append(("", definition.filter { $0 != "\\" }))
                continue
            }
            let name = list.text(attribute.name)
            if attribute.isQuoted, let link = links[attribute.value.lowerBound] {
                guard kinds[name] == .link, let file = names[link] else { return nil }
                hasLink = true
                set("\"\(escaped(file, isQuoted: true))\"", of: name, in: &known)
            } else if let text = text(attribute, kinds[name]) {
                set(text, of: name, in: &known)
            }
        }
        if !hasLink, tag == .map {
            throw PlaylistError(.malformedAttributes, "EXT-X-MAP has no quoted URI.", at: value.lowerBound)
        }
        if !hasLink, tag == .iFrameStreamInf || tag == .imageStreamInf { return nil }
        if !hasLink, tag == .key || tag == .sessionKey, !known.contains(where: { $0 == ("METHOD", "NONE") }) {
            return nil
        }
        guard !known.isEmpty else { return nil }
        return known.map { $0.name.isEmpty ? $0.text : "\($0.name)=\($0.text)" }.joined(separator: ",")
    }

    /// Sets an attribute; of two with one name the last one counts, as it does where the list is read.
    private func set(_ text: String, of name: String, in known: inout [(name: String, text: String)]) {
        if let index = known.firstIndex(where: { $0.name == name }) {
            known[index].text = text
        } else {
            known.append((name, text))
        }
    }

    /// The value of an attribute with its quotation marks; `nil` if it does not have the syntax of its kind.
    private func text(_ attribute: AttributeSpan, _ kind: Attribute?) -> String? {
        switch kind {
        case .string: "\"\(plain(attribute.value))\""
        case .range: isBare(attribute.value, with: "@") ? "\"\(list.text(attribute.value))\"" : nil
        case .word: isBare(attribute.value, with: ".+-_") ? list.text(attribute.value) : nil
        case .wordOrString:
            attribute.isQuoted
                ? "\"\(plain(attribute.value))\""
                : isBare(attribute.value, with: "-") ? list.text(attribute.value) : nil
        case .link, nil: nil
        }
    }

    // MARK: - Values

    private func isBare(_ place: Range<Int>, with marks: StaticString) -> Bool {
        !place.isEmpty
            && list.bytes[place].allSatisfy { byte in
                byte.isLetter || byte.isDigit
                    || UnsafeBufferPointer(start: marks.utf8Start, count: marks.utf8CodeUnitCount).contains(byte)
            }
    }

    /// Text for people, or a name: without characters that end a line or escape a quotation mark for some parsers.
    private func plain(_ place: Range<Int>) -> String {
        String(decoding: list.bytes[place].filter { !$0.isControl && $0 != UInt8(ascii: "\\") }, as: UTF8.self)
    }

    private func escaped(_ name: String, isQuoted: Bool) -> String {
        String(decoding: HLSEscape.escaped(Array(name.utf8), isQuoted: isQuoted), as: UTF8.self)
            .split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "%5C")
    }

    // MARK: - Syntax

    private enum Attribute {
        /// A number, a size in pixels, hexadecimal digits or a word, without quotation marks.
        case word
        /// A quoted string.
        case string
        /// `CLOSED-CAPTIONS`: `NONE`, or a quoted string.
        case wordOrString
        /// A byte range, quoted.
        case range
        /// The URI of a given file, quoted.
        case link
    }

    private enum Syntax {
        case flag
        /// A number, a byte range, a date or a word.
        case word
        /// A duration and a title.
        case duration
        case attributes([String: Attribute])
    }

    private static let variantAttributes: [String: Attribute] = [
        "BANDWIDTH": .word, "AVERAGE-BANDWIDTH": .word, "SCORE": .word, "CODECS": .string,
        "SUPPLEMENTAL-CODECS": .string, "RESOLUTION": .word, "FRAME-RATE": .word, "HDCP-LEVEL": .word,
        "ALLOWED-CPC": .string, "VIDEO-RANGE": .word, "REQ-VIDEO-LAYOUT": .string, "STABLE-VARIANT-ID": .string,
        "AUDIO": .string, "VIDEO": .string, "SUBTITLES": .string, "CLOSED-CAPTIONS": .wordOrString,
        "PATHWAY-ID": .string, "NAME": .string, "PROGRAM-ID": .word,
    ]

    private static let keyAttributes: [String: Attribute] = [
        "METHOD": .word, "URI": .link, "IV": .word, "KEYFORMAT": .string, "KEYFORMATVERSIONS": .string,
    ]

    /// What each tag is written with; tags that help only with an origin are not written.
    private static let syntaxes: [HLSTag: Syntax] = [
        .version: .word, .independentSegments: .flag, .start: .attributes(["TIME-OFFSET": .word, "PRECISE": .word]),
        .define: .attributes(["NAME": .string, "VALUE": .string, "IMPORT": .string]),
        .media: .attributes([
            "TYPE": .word, "URI": .link, "GROUP-ID": .string, "LANGUAGE": .string, "ASSOC-LANGUAGE": .string,
            "NAME": .string, "STABLE-RENDITION-ID": .string, "DEFAULT": .word, "AUTOSELECT": .word, "FORCED": .word,
            "INSTREAM-ID": .string, "BIT-DEPTH": .word, "SAMPLE-RATE": .word, "CHARACTERISTICS": .string,
            "CHANNELS": .string,
        ]),
        .streamInf: .attributes(variantAttributes),
        .iFrameStreamInf: .attributes(variantAttributes.merging(["URI": .link]) { $1 }),
        .imageStreamInf: .attributes(variantAttributes.merging(["URI": .link]) { $1 }),
        .sessionData: .attributes([
            "DATA-ID": .string, "VALUE": .string, "URI": .link, "FORMAT": .word, "LANGUAGE": .string,
        ]),
        .sessionKey: .attributes(keyAttributes), .key: .attributes(keyAttributes),
        .map: .attributes(["URI": .link, "BYTERANGE": .range]),
        .inf: .duration, .byteRange: .word, .discontinuity: .flag, .programDateTime: .word, .gap: .flag,
        .bitrate: .word, .targetDuration: .word, .mediaSequence: .word, .discontinuitySequence: .word,
        .endList: .flag, .playlistType: .word, .iFramesOnly: .flag, .imagesOnly: .flag,
        .tiles: .attributes(["RESOLUTION": .word, "LAYOUT": .word, "DURATION": .word]),
        .partInf: .attributes(["PART-TARGET": .word]), .skip: .attributes(["SKIPPED-SEGMENTS": .word]),
        .dateRange: .attributes([
            "ID": .string, "CLASS": .string, "START-DATE": .string, "CUE": .string, "END-DATE": .string,
            "DURATION": .word, "PLANNED-DURATION": .word, "SCTE35-CMD": .word, "SCTE35-OUT": .word,
            "SCTE35-IN": .word, "END-ON-NEXT": .word,
        ]),
    ]
}

extension HLSPlaylist {
    /// The playlist written again with only what is known of it; `links` says what links become, by their indices.
    ///
    /// Renditions, keys and other tags with links that `links` lacks are left out, as are comments, unknown tags and
    /// attributes, and whatever is malformed. Throws if a segment or a map would be left out.
    package func written(links: [Int: String]) throws(PlaylistError) -> [UInt8] {
        var writer = HLSWriter(self, links: links)
        return try writer.written()
    }
}

/// Keeps a URI whole in a line or a quoted string of HLS (rfc8216bis §4.1, §4.2, §4.3).
enum HLSEscape {
    /// Percent-encodes what would end the line or the string, begin a tag, or name a variable.
    static func escaped(_ uri: [UInt8], isQuoted: Bool) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(uri.count)
        for (index, byte) in uri.enumerated() {
            let isVariable =
                byte == UInt8(ascii: "{") && index + 1 < uri.count && uri[index + 1] == UInt8(ascii: "$")
            let isMark = isQuoted ? byte == UInt8(ascii: "\"") : index == 0 && byte == UInt8(ascii: "#")
            if byte.isControl || byte == 0x20 || isVariable || isMark {
                result.appendEscape(of: byte)
            } else {
                result.append(byte)
            }
        }
        return result
    }
}
