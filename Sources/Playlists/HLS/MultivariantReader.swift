/// Reads the tags of a multivariant playlist (rfc8216bis §4.4.6).
struct MultivariantReader {
    private(set) var playlist = MultivariantPlaylist()
    /// The variant whose URI line has not come yet.
    private var pending: Variant?

    /// Reads one tag.
    mutating func read(_ tag: HLSTag, value: Range<Int>, in text: inout HLSText) throws(PlaylistError) {
        switch tag {
        case .streamInf:
            finish()
            pending = try variant(value, kind: nil, in: &text)
        case .iFrameStreamInf: playlist.iFrameVariants.append(try variant(value, kind: .iFrameVariant, in: &text))
        case .imageStreamInf: playlist.imageVariants.append(try variant(value, kind: .imageVariant, in: &text))
        case .media: playlist.renditions.append(try rendition(value, in: &text))
        case .sessionKey: playlist.sessionKeys.append(try KeyReader.read(value, kind: .sessionKey, in: &text))
        case .sessionData: try readSessionData(value, in: &text)
        case .contentSteering: try readSteering(value, in: &text)
        default: break
        }
    }

    /// Takes a line if it is the URI of a variant: the first after the tag that is neither blank nor begins with `#`.
    mutating func readURI(_ line: LineReader.Line, in text: inout HLSText) throws(PlaylistError) -> Bool {
        guard var variant = pending else { return false }
        pending = nil
        variant.link = try text.addLink(.variant, at: line.content, in: .line)
        variant.uriLine = line.whole
        playlist.variants.append(variant)
        return true
    }

    /// Keeps a variant whose URI never came.
    mutating func finish() {
        if let variant = pending { playlist.variants.append(variant) }
        pending = nil
    }

    private func variant(
        _ value: Range<Int>, kind: LinkKind?, in text: inout HLSText
    ) throws(PlaylistError) -> Variant {
        try text.budget.keep(Variant.self)
        var variant = Variant(tagLine: text.line.whole)
        var attributes = AttributeReader(text.bytes, at: value)
        while let attribute = attributes.next() {
            try text.budget.keep(AttributeSpan.self)
            variant.attributes.append(attribute)
            let place = attribute.value
            switch text.name(attribute) {
            case "URI": if let kind { variant.link = try text.addLink(kind, attribute: attribute) ?? variant.link }
            case "BANDWIDTH": variant.bandwidth = text.integer(place)
            case "AVERAGE-BANDWIDTH": variant.averageBandwidth = text.integer(place)
            case "SCORE": variant.score = text.decimal(place)
            case "CODECS": variant.codecs = try text.string(attribute)
            case "SUPPLEMENTAL-CODECS": variant.supplementalCodecs = try text.string(attribute)
            case "RESOLUTION": variant.resolution = resolution(place, in: &text)
            case "FRAME-RATE": variant.frameRate = text.decimal(place)
            case "VIDEO-RANGE": variant.videoRange = try text.string(attribute)
            case "HDCP-LEVEL": variant.hdcpLevel = try text.string(attribute)
            case "AUDIO": variant.audioGroup = try text.string(attribute)
            case "VIDEO": variant.videoGroup = try text.string(attribute)
            case "SUBTITLES": variant.subtitlesGroup = try text.string(attribute)
            case "CLOSED-CAPTIONS":
                variant.hasNoClosedCaptions = !attribute.isQuoted && text.bytes.matches(place, text: "NONE")
                variant.closedCaptionsGroup = variant.hasNoClosedCaptions ? nil : try text.string(attribute)
            case "NAME": variant.name = try text.string(attribute)
            case "PATHWAY-ID": variant.pathwayID = try text.string(attribute)
            case "STABLE-VARIANT-ID": variant.stableID = try text.string(attribute)
            default: break
            }
        }
        text.note(attributes)
        return variant
    }

    /// `WIDTHxHEIGHT` (rfc8216bis §4.2).
    private func resolution(_ place: Range<Int>, in text: inout HLSText) -> Variant.Resolution? {
        guard let cross = text.bytes[place].firstIndex(of: UInt8(ascii: "x")),
            let width = text.integer(place.lowerBound..<cross),
            let height = text.integer(cross + 1..<place.upperBound)
        else { return nil }
        return Variant.Resolution(width: width, height: height)
    }

    private func rendition(_ value: Range<Int>, in text: inout HLSText) throws(PlaylistError) -> Rendition {
        try text.budget.keep(Rendition.self)
        var rendition = Rendition(line: text.line.whole)
        var attributes = AttributeReader(text.bytes, at: value)
        while let attribute = attributes.next() {
            try text.budget.keep(AttributeSpan.self)
            rendition.attributes.append(attribute)
            switch text.name(attribute) {
            case "URI": rendition.link = try text.addLink(.rendition, attribute: attribute) ?? rendition.link
            case "TYPE": rendition.kind = Rendition.Kind(try text.string(attribute))
            case "GROUP-ID": rendition.groupID = try text.string(attribute)
            case "NAME": rendition.name = try text.string(attribute)
            case "LANGUAGE": rendition.language = try text.string(attribute)
            case "ASSOC-LANGUAGE": rendition.associatedLanguage = try text.string(attribute)
            case "DEFAULT": rendition.isDefault = text.isYes(attribute)
            case "AUTOSELECT": rendition.isAutoselect = text.isYes(attribute)
            case "FORCED": rendition.isForced = text.isYes(attribute)
            case "INSTREAM-ID": rendition.instreamID = try text.string(attribute)
            case "CHARACTERISTICS": rendition.characteristics = try text.string(attribute)
            case "CHANNELS": rendition.channels = try text.string(attribute)
            case "STABLE-RENDITION-ID": rendition.stableID = try text.string(attribute)
            default: break
            }
        }
        text.note(attributes)
        return rendition
    }

    private mutating func readSessionData(_ value: Range<Int>, in text: inout HLSText) throws(PlaylistError) {
        var attributes = AttributeReader(text.bytes, at: value)
        var id = ""
        var link: Int?
        while let attribute = attributes.next() {
            switch text.name(attribute) {
            case "DATA-ID": id = try text.string(attribute)
            case "URI": link = try text.addLink(.sessionData, attribute: attribute) ?? link
            default: break
            }
        }
        text.note(attributes)
        playlist.sessionData.append(.init(id: id, link: link, line: text.line.whole))
    }

    private mutating func readSteering(_ value: Range<Int>, in text: inout HLSText) throws(PlaylistError) {
        var attributes = AttributeReader(text.bytes, at: value)
        while let attribute = attributes.next() {
            if text.bytes.matches(attribute.name, text: "SERVER-URI") {
                _ = try text.addLink(.steering, attribute: attribute)
            }
        }
        text.note(attributes)
        playlist.steeringLines.append(text.line.whole)
    }
}
