/// Reads the tags that belong to segments and parts (rfc8216bis §4.4.4).
struct SegmentReader {
    /// Whether segments are thumbnails.
    var areImages = false
    private var segments: [Segment] = []
    private var parts: [Part] = []
    private var maps: [Map] = []
    private var keys = KeyRing()
    private var pending = Pending()
    private var discontinuities: Int64 = 0
    private var bitrate: Int64?
    /// Where the last range of a segment, and of a part of the next segment, ended.
    private var segmentEnd = RangeEnd()
    private var partEnd = RangeEnd()

    /// What the lines before the next URI say.
    private struct Pending {
        var duration: Double?
        var tagLine: Range<Int>?
        var byteRange: (count: Int64, offset: Int64?)?
        var isDiscontinuous = false
        var isGap = false
        var programDateTime: Range<Int>?
        var firstPart: Int?
    }

    /// Reads one tag.
    mutating func read(_ tag: HLSTag, value: Range<Int>, in text: inout HLSText) throws(PlaylistError) {
        switch tag {
        case .inf:
            pending.tagLine = text.line.whole
            let comma = text.bytes[value].firstIndex(of: UInt8(ascii: ",")) ?? value.upperBound
            pending.duration = text.decimal(value.lowerBound..<comma)
        case .byteRange: pending.byteRange = text.byteRange(value)
        case .discontinuity:
            pending.isDiscontinuous = true
            discontinuities += 1
        case .gap: pending.isGap = true
        case .bitrate: bitrate = text.integer(value)
        case .programDateTime: pending.programDateTime = value
        case .key: try keys.add(try KeyReader.read(value, kind: .key, in: &text), limits: text.limits)
        case .map: try readMap(value, in: &text)
        case .part: try readPart(value, in: &text)
        default: break
        }
    }

    /// A segment.
    mutating func readURI(_ line: LineReader.Line, in text: inout HLSText) throws(PlaylistError) {
        let extent = segmentEnd.extent(pending.byteRange, of: line.content, in: text.bytes)
        guard let link = try text.addLink(areImages ? .image : .segment, at: line.content, in: .line, extent: extent)
        else { return }
        if case .unplaced = extent { noteUnplaced(&text) }
        try text.budget.keep(Segment.self)
        var segment = Segment(link: link, uriLine: line.whole)
        segment.duration = pending.duration ?? 0
        segment.discontinuitySequence = discontinuities
        segment.isDiscontinuous = pending.isDiscontinuous
        segment.isGap = pending.isGap
        segment.bitrate = bitrate
        segment.programDateTime = pending.programDateTime
        segment.map = maps.isEmpty ? nil : maps.count - 1
        segment.keySet = keys.currentSet()
        segment.parts = (pending.firstPart ?? parts.count)..<parts.count
        segment.tagLine = pending.tagLine
        segments.append(segment)
        pending = Pending()
        partEnd = RangeEnd()
    }

    /// Hands over everything read, with sequence numbers.
    mutating func finish(into playlist: inout MediaPlaylist) {
        let first = playlist.mediaSequence + (playlist.skippedSegments ?? 0)
        for index in segments.indices {
            segments[index].sequence = first + Int64(index)
            segments[index].discontinuitySequence += playlist.discontinuitySequence
        }
        playlist.segments = segments
        playlist.parts = parts
        playlist.trailingParts = (pending.firstPart ?? parts.count)..<parts.count
        playlist.maps = maps
        playlist.keys = keys.keys
        playlist.keySets = keys.sets
    }

    private mutating func readMap(_ value: Range<Int>, in text: inout HLSText) throws(PlaylistError) {
        var attributes = AttributeReader(text.bytes, at: value)
        var link: Int?
        var extent = ByteExtent.whole
        while let attribute = attributes.next() {
            switch text.name(attribute) {
            case "URI": link = try text.addLink(.map, attribute: attribute) ?? link
            case "BYTERANGE":
                // RFC 8216 §4.3.2.5 allows no offset, which players read as the beginning.
                guard let (count, offset) = text.byteRange(attribute.value) else { break }
                extent = .bytes(count: count, at: offset ?? 0) ?? extent
            default: break
            }
        }
        text.note(attributes)
        guard let link else { return }
        text.setExtent(extent, of: link)
        maps.append(Map(link: link, keySet: keys.currentSet(), line: text.line.whole))
    }

    private mutating func readPart(_ value: Range<Int>, in text: inout HLSText) throws(PlaylistError) {
        var attributes = AttributeReader(text.bytes, at: value)
        var link: Int?
        var uri = 0..<0
        var range: (count: Int64, offset: Int64?)?
        var duration: Double?
        var (isIndependent, isGap) = (false, false)
        while let attribute = attributes.next() {
            switch text.name(attribute) {
            case "URI":
                link = try text.addLink(.part, attribute: attribute) ?? link
                uri = attribute.value
            case "BYTERANGE": range = text.byteRange(attribute.value)
            case "DURATION": duration = text.decimal(attribute.value)
            case "INDEPENDENT": isIndependent = text.isYes(attribute)
            case "GAP": isGap = text.isYes(attribute)
            default: break
            }
        }
        text.note(attributes)
        guard let link else { return }
        let extent = partEnd.extent(range, of: uri, in: text.bytes)
        if case .unplaced = extent { noteUnplaced(&text) }
        text.setExtent(extent, of: link)
        try text.budget.keep(Part.self)
        if pending.firstPart == nil { pending.firstPart = parts.count }
        parts.append(Part(link: link, duration: duration, isIndependent: isIndependent, isGap: isGap))
    }

    private func noteUnplaced(_ text: inout HLSText) {
        text.note(.unplacedRange, "The range has no offset, and no range of the same resource precedes it.")
    }
}

/// Where the range of the last segment or part ended, for the next one that states no offset (rfc8216bis §4.4.4.2).
struct RangeEnd {
    private var uri = 0..<0
    private var end: Int64?

    /// The bytes of the next one, whose URI stands at `place`; becomes the new end.
    mutating func extent(
        _ range: (count: Int64, offset: Int64?)?, of place: Range<Int>, in bytes: [UInt8]
    ) -> ByteExtent {
        let (previousURI, previousEnd) = (uri, end)
        uri = place
        end = nil
        guard let range else { return .whole }
        var offset = range.offset
        if offset == nil, previousURI.count == place.count, bytes[previousURI].elementsEqual(bytes[place]) {
            offset = previousEnd
        }
        guard let offset, let extent = ByteExtent.bytes(count: range.count, at: offset) else {
            return .unplaced(count: range.count)
        }
        end = offset + range.count
        return extent
    }
}
