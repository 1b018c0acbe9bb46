/// Reads the tags of a media playlist that are about the whole of it or about other lists (rfc8216bis §4.4.3,
/// §4.4.5).
struct MediaReader {
    private var playlist = MediaPlaylist()
    private var segments = SegmentReader()

    /// Reads one tag.
    mutating func read(_ tag: HLSTag, value: Range<Int>, in text: inout HLSText) throws(PlaylistError) {
        switch tag {
        case .targetDuration: playlist.targetDuration = text.decimal(value) ?? playlist.targetDuration
        case .mediaSequence: playlist.mediaSequence = text.integer(value) ?? playlist.mediaSequence
        case .discontinuitySequence:
            playlist.discontinuitySequence = text.integer(value) ?? playlist.discontinuitySequence
        case .playlistType:
            if text.bytes.matches(value, text: "VOD") { playlist.type = .vod }
            if text.bytes.matches(value, text: "EVENT") { playlist.type = .event }
        case .endList: playlist.hasEndList = true
        case .iFramesOnly: playlist.hasIFramesOnly = true
        case .imagesOnly, .tiles:
            playlist.hasImagesOnly = true
            segments.areImages = true
        case .partInf, .skip: readNumber(of: tag, value: value, in: &text)
        case .serverControl: readServerControl(value, in: &text)
        case .preloadHint: try readPreloadHint(value, in: &text)
        case .renditionReport: try readRenditionReport(value, in: &text)
        case .dateRange: try readDateRange(value, in: &text)
        case .prefetch: _ = try text.addLink(.prefetch, at: value, in: .line)
        default: try segments.read(tag, value: value, in: &text)
        }
    }

    /// Reads a line that is neither a tag nor a comment.
    mutating func readURI(_ line: LineReader.Line, in text: inout HLSText) throws(PlaylistError) {
        try segments.readURI(line, in: &text)
    }

    /// The list, once all lines are read.
    mutating func finish() -> MediaPlaylist {
        segments.finish(into: &playlist)
        return playlist
    }

    private mutating func readNumber(of tag: HLSTag, value: Range<Int>, in text: inout HLSText) {
        var attributes = AttributeReader(text.bytes, at: value)
        while let attribute = attributes.next() {
            switch text.name(attribute) {
            case "PART-TARGET": playlist.partTarget = text.decimal(attribute.value)
            case "SKIPPED-SEGMENTS": playlist.skippedSegments = text.integer(attribute.value)
            default: break
            }
        }
        text.note(attributes)
    }

    private mutating func readServerControl(_ value: Range<Int>, in text: inout HLSText) {
        var control = ServerControl(line: text.line.whole)
        var attributes = AttributeReader(text.bytes, at: value)
        while let attribute = attributes.next() {
            control.attributes.append(attribute)
            switch text.name(attribute) {
            case "CAN-BLOCK-RELOAD": control.canBlockReload = text.isYes(attribute)
            case "CAN-SKIP-UNTIL": control.canSkipUntil = text.decimal(attribute.value)
            case "CAN-SKIP-DATERANGES": control.canSkipDateRanges = text.isYes(attribute)
            case "HOLD-BACK": control.holdBack = text.decimal(attribute.value)
            case "PART-HOLD-BACK": control.partHoldBack = text.decimal(attribute.value)
            default: break
            }
        }
        text.note(attributes)
        playlist.serverControl = control
    }

    private mutating func readPreloadHint(_ value: Range<Int>, in text: inout HLSText) throws(PlaylistError) {
        var attributes = AttributeReader(text.bytes, at: value)
        var link: Int?
        var isMap = false
        var (start, count): (Int64?, Int64?)
        while let attribute = attributes.next() {
            switch text.name(attribute) {
            case "TYPE": isMap = text.bytes.matches(attribute.value, text: "MAP")
            case "URI": link = try text.addLink(.preloadHint, attribute: attribute) ?? link
            case "BYTERANGE-START": start = text.integer(attribute.value)
            case "BYTERANGE-LENGTH": count = text.integer(attribute.value)
            default: break
            }
        }
        text.note(attributes)
        guard let link else { return }
        if let count {
            if let extent = ByteExtent.bytes(count: count, at: start ?? 0) { text.setExtent(extent, of: link) }
        } else if let start {
            text.setExtent(.from(start), of: link)
        }
        playlist.preloadHints.append(PreloadHint(link: link, isMap: isMap))
    }

    private mutating func readRenditionReport(_ value: Range<Int>, in text: inout HLSText) throws(PlaylistError) {
        var attributes = AttributeReader(text.bytes, at: value)
        var link: Int?
        var (sequence, part): (Int64?, Int64?)
        while let attribute = attributes.next() {
            switch text.name(attribute) {
            case "URI": link = try text.addLink(.renditionReport, attribute: attribute) ?? link
            case "LAST-MSN": sequence = text.integer(attribute.value)
            case "LAST-PART": part = text.integer(attribute.value)
            default: break
            }
        }
        text.note(attributes)
        guard let link else { return }
        playlist.renditionReports.append(RenditionReport(link: link, lastSequence: sequence, lastPart: part))
    }

    /// Interstitials and preloads (rfc8216bis Appendices D and F), known by their attributes.
    private mutating func readDateRange(_ value: Range<Int>, in text: inout HLSText) throws(PlaylistError) {
        var attributes = AttributeReader(text.bytes, at: value)
        var range = Interstitial(line: text.line.whole)
        var isInterstitial = false
        while let attribute = attributes.next() {
            switch text.name(attribute) {
            case "ID": range.id = text.bytes.text(attribute.value)
            case "CLASS": isInterstitial = text.bytes.matches(attribute.value, text: Interstitial.className)
            case "X-ASSET-URI":
                if let link = try text.addLink(.interstitialAsset, attribute: attribute) { range.links.append(link) }
            case "X-ASSET-LIST":
                if let link = try text.addLink(.interstitialList, attribute: attribute) { range.links.append(link) }
            case "X-URI": _ = try text.addLink(.preload, attribute: attribute)
            default: break
            }
        }
        text.note(attributes)
        if isInterstitial { playlist.interstitials.append(range) }
    }
}
