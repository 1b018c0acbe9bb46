/// Writes an MPD again with only what is known of it: elements and attributes of the specification in their places,
/// and links to the given files.
///
/// Other parsers disagree with ours about elements of other namespaces, the encoding and what stands where it does
/// not belong, so nothing of that is written: no document type, no instruction, no comment, no prefix.
package struct MPDWriter {
    private let mpd: MPD
    /// Indices of links by where they begin.
    private let links: [Int: Int]
    private var names: [Int: String] = [:]
    /// Bases of representations, by where their start tags begin.
    private var bases: [Int: String] = [:]
    /// Where elements and attributes begin that are left out.
    private var removed: Set<Int> = []

    /// Creates a writer of `mpd` without its links.
    package init(_ mpd: MPD) {
        self.mpd = mpd
        links = Dictionary(mpd.links.enumerated().map { ($1.place.lowerBound, $0) }) { first, _ in first }
    }

    /// Says what the link at `index` of ``MPD/links`` becomes; other links are left out, and so is each `BaseURL`.
    package mutating func set(_ name: String, ofLink index: Int) { names[index] = name }

    /// Gives a representation its only `BaseURL`.
    package mutating func setBase(_ uri: String, of representation: Representation) {
        bases[representation.startTag.lowerBound] = uri
    }

    /// Leaves out an element or an attribute.
    package mutating func remove(_ place: Range<Int>) { removed.insert(place.lowerBound) }

    /// The text.
    ///
    /// Throws `notAPlaylist` if the root element is not `MPD`.
    package func written() throws(PlaylistError) -> [UInt8] {
        var tokens = try XMLTokenizer(mpd.bytes, budget: PlaylistBudget(forInput: mpd.bytes.count))
        var output = Output()
        if mpd.bytes.hasPrefix("<?xml", at: 0) { output.text += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" }
        while let token = try tokens.next() {
            switch token {
            case .start(let tag): try start(tag, in: &output)
            case .end: output.end()
            case .text(let place): add(place, to: &output)
            case .section: break
            }
        }
        return Array(output.text.utf8)
    }

    /// What is written so far, and which elements are open.
    private struct Output {
        var text = ""
        var open: [String] = []
        /// How many elements are open that are left out, the outermost first.
        var skipped = 0

        mutating func end() {
            if skipped > 0 {
                skipped -= 1
            } else if let name = open.popLast() {
                text += "</\(name)>"
            }
        }
    }

    private func start(_ tag: XMLTag, in output: inout Output) throws(PlaylistError) {
        guard output.skipped == 0, let name = name(of: tag, inside: output.open.last), let rule = Self.rules[name],
            !removed.contains(tag.whole.lowerBound), let attributes = try attributes(of: tag, rule, name: name)
        else {
            guard !output.open.isEmpty else {
                throw PlaylistError(.notAPlaylist, "The root element is not MPD.", at: tag.whole.lowerBound)
            }
            if !tag.isEmpty { output.skipped += 1 }
            return
        }
        output.text += "<\(name)\(attributes)"
        let base = bases[tag.whole.lowerBound].map { "<BaseURL>\(escaped(Array($0.utf8), quote: nil))</BaseURL>" }
        if tag.isEmpty {
            output.text += base.map { ">\($0)</\(name)>" } ?? "/>"
        } else {
            output.text += ">" + (base ?? "")
            output.open.append(name)
        }
    }

    /// The name of an element that is known where it stands, without a prefix.
    private func name(of tag: XMLTag, inside parent: String?) -> String? {
        let prefix = mpd.prefix.utf8.count
        guard tag.name.count > prefix, mpd.bytes[tag.name].starts(with: mpd.prefix.utf8) else { return nil }
        let name = mpd.bytes.text(tag.name.lowerBound + prefix..<tag.name.upperBound)
        guard let parent else { return name == "MPD" ? name : nil }
        return Self.rules[parent]?.children.contains(name) == true ? name : nil
    }

    /// The known attributes; `nil` if the element must go because it names what is not given.
    private func attributes(of tag: XMLTag, _ rule: Rule, name: String) throws(PlaylistError) -> String? {
        var text = ""
        var written: Set<String> = []
        for attribute in try tag.allAttributes(mpd.bytes) {
            let key = mpd.bytes.text(attribute.name)
            guard written.insert(key).inserted, !removed.contains(attribute.name.lowerBound) else { continue }
            if name == "MPD", key == "xmlns" || key == "xmlns:\(mpd.prefix.dropLast())" {
                text += " xmlns=\"urn:mpeg:dash:schema:mpd:2011\""
                continue
            }
            let mark = attribute.quote == UInt8(ascii: "'") ? "'" : "\""
            let value: String
            if let link = links[firstOfValue(attribute)] {
                guard rule.links.contains(key) else { continue }
                guard let file = names[link] else { return nil }
                value = escaped(Array(file.utf8), quote: attribute.quote)
            } else {
                guard rule.attributes.contains(key) else { continue }
                value = plain(XMLText(mpd.bytes, at: attribute.value).value, quote: attribute.quote)
                // No descriptor that a player of files needs has a path for its value.
                if key == "value", value.contains("/") { return nil }
            }
            text += " \(key)=\(mark)\(value)\(mark)"
        }
        return text
    }

    /// Where a link would begin in an attribute.
    private func firstOfValue(_ attribute: XMLTag.Attribute) -> Int {
        mpd.bytes[attribute.value].firstIndex { !$0.isSpace } ?? attribute.value.lowerBound
    }

    private func add(_ place: Range<Int>, to output: inout Output) {
        guard output.skipped == 0, let parent = output.open.last else { return }
        if mpd.bytes[place].allSatisfy(\.isSpace) {
            output.text += mpd.bytes.text(place)
        } else if Self.rules[parent]?.hasText == true {
            output.text += plain(XMLText(mpd.bytes, at: place).value, quote: nil)
        }
    }

    /// Text for people, a number or a name.
    private func plain(_ bytes: [UInt8], quote: UInt8?) -> String {
        escaped(bytes.map { $0.isControl ? 0x20 : $0 }, quote: quote)
    }

    private func escaped(_ bytes: [UInt8], quote: UInt8?) -> String {
        String(decoding: XMLEscape.escaped(bytes[...], quote: quote), as: UTF8.self)
    }

    // MARK: - Rules

    /// What an element is written with.
    private struct Rule {
        var attributes: Set<String> = []
        /// Attributes with links.
        var links: Set<String> = []
        var children: Set<String> = []
        var hasText = false
    }

    private static let segmentElements: Set<String> = ["SegmentTemplate", "SegmentList", "SegmentBase"]
    private static let descriptors: Set<String> = [
        "EssentialProperty", "SupplementalProperty", "Role", "Accessibility", "Rating", "Viewpoint", "FramePacking",
        "AudioChannelConfiguration", "InbandEventStream",
    ]
    private static let common: Set<String> = [
        "profiles", "width", "height", "sar", "frameRate", "audioSamplingRate", "mimeType", "segmentProfiles",
        "codecs", "containerProfiles", "maximumSAPPeriod", "startWithSAP", "maxPlayoutRate", "codingDependency",
        "scanType", "selectionPriority", "tag",
    ]
    private static let segments: Set<String> = [
        "timescale", "duration", "startNumber", "endNumber", "presentationTimeOffset", "presentationDuration",
        "eptDelta", "pdDelta", "indexRange", "indexRangeExact",
    ]

    /// ISO/IEC 23009-1 §5.3, without what helps only with an origin.
    private static let rules: [String: Rule] = {
        var rules: [String: Rule] = [
            "MPD": Rule(
                attributes: [
                    "id", "profiles", "type", "availabilityStartTime", "publishTime", "availabilityEndTime",
                    "mediaPresentationDuration", "minBufferTime", "maxSegmentDuration", "maxSubsegmentDuration",
                ], children: ["ProgramInformation", "Period"]),
            "ProgramInformation": Rule(attributes: ["lang"], children: ["Title", "Source", "Copyright"]),
            "Period": Rule(
                attributes: ["id", "start", "duration", "bitstreamSwitching"],
                children: segmentElements.union(["AdaptationSet"])),
            "AdaptationSet": Rule(
                attributes: common.union([
                    "id", "group", "lang", "contentType", "par", "minBandwidth", "maxBandwidth", "minWidth",
                    "maxWidth", "minHeight", "maxHeight", "minFrameRate", "maxFrameRate", "segmentAlignment",
                    "bitstreamSwitching", "subsegmentAlignment", "subsegmentStartsWithSAP",
                ]),
                children: segmentElements.union(descriptors).union([
                    "Representation", "ContentComponent", "Label", "GroupLabel",
                ])),
            "ContentComponent": Rule(attributes: ["id", "lang", "contentType", "par"], children: descriptors),
            "Representation": Rule(
                attributes: common.union([
                    "id", "bandwidth", "qualityRanking", "dependencyId", "associationId", "associationType",
                    "mediaStreamStructureId",
                ]),
                children: segmentElements.union(descriptors).union(["Label", "GroupLabel"])),
            "SegmentTemplate": Rule(
                attributes: segments, links: ["media", "initialization"],
                children: ["SegmentTimeline", "Initialization", "RepresentationIndex"]),
            "SegmentList": Rule(
                attributes: segments,
                children: ["SegmentTimeline", "Initialization", "RepresentationIndex", "SegmentURL"]),
            "SegmentBase": Rule(
                attributes: segments, children: ["Initialization", "RepresentationIndex"]),
            "SegmentTimeline": Rule(children: ["S"]), "S": Rule(attributes: ["t", "n", "d", "r", "k"]),
            "SegmentURL": Rule(attributes: ["mediaRange", "indexRange"], links: ["media"]),
            "Initialization": Rule(attributes: ["range"], links: ["sourceURL"]),
            "RepresentationIndex": Rule(attributes: ["range"], links: ["sourceURL"]),
        ]
        for name in ["Title", "Source", "Copyright", "Label", "GroupLabel"] {
            rules[name] = Rule(attributes: ["id", "lang"], hasText: true)
        }
        for name in descriptors {
            rules[name] = Rule(attributes: ["schemeIdUri", "value", "id"], links: ["value"])
        }
        return rules
    }()
}
