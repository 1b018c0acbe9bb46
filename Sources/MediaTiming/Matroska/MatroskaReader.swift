import ByteRanges

/// Reads the headers and cues of a Matroska file, then walks its clusters block by block (RFC 9559 §5.1.3).
struct MatroskaReader: FormatReader {
    let format = MediaFormat.matroska
    private let goal: Double
    private let limits: TimingLimits
    private var position: Int64 = 0
    private var headers: MatroskaHeaders?
    /// Where the cues stand.
    private var cues: Range<Int64>?
    private var hasSoughtCues = false
    private var firstCluster: Int64?
    /// In units of time.
    private var clusterTime = 0.0
    private var clocks: [UInt64: StreamClock] = [:]
    /// The end of the last block that is shown before the goal.
    private var end: Int64 = 0
    private var steps = 0

    /// If one track is so many seconds ahead, the others have ended.
    private static let longestLag = 3.0

    init(goal: Double, limits: TimingLimits) { (self.goal, self.limits) = (goal, limits) }

    var keptFrom: Int64 { position }

    var outlook: Outlook {
        let start = firstCluster ?? position
        var needed = ByteRangeSet(0..<start)
        if let cues { needed.insert(cues) }
        let elapsed = clocks.values.map(\.latest).max() ?? 0
        return Outlook(
            headers: needed, mediaStart: start, position: max(start, position), elapsed: max(0, elapsed),
            duration: headers?.duration, point: headers?.point)
    }

    private var isDone: Bool {
        clocks.values.allSatisfy(\.isDone) || clocks.values.contains { $0.latest >= goal + Self.longestLag }
    }

    mutating func read(_ bytes: MediaBytes) throws(Stop) -> ByteRangeSet {
        while firstCluster == nil { try readHeader(bytes) }
        if !hasSoughtCues {
            do throws(Stop) { try readCuesBehindClusters(bytes) } catch {
                guard case .missing(let need) = error else { throw error }
                throw .missing(MediaNeed(window: need.window, extent: need.extent, isOptional: true))
            }
        }
        hasSoughtCues = true
        let view = ByteView(bytes)
        while !isDone, position < view.bounds.upperBound {
            do throws(Stop) { try readElement(view) } catch {
                guard case .end = error else { throw error }
                // The file was cut.
                (position, end) = (view.bounds.upperBound, view.bounds.upperBound)
            }
        }
        return outlook.headers.union(ByteRangeSet(0..<max(end, firstCluster ?? 0)))
    }

    // MARK: - Before the clusters

    private mutating func readHeader(_ bytes: MediaBytes) throws(Stop) {
        let element = try Element(at: position, in: ByteView(bytes))
        try spend()
        var next = element.end
        switch element.id {
        case Element.segment where headers == nil:
            headers = MatroskaHeaders(dataStart: element.content)
            next = element.content
        case Element.seekHead: try headers?.readSeekHead(element.children(of: bytes, limits: limits))
        case Element.information: try headers?.readInformation(element.children(of: bytes, limits: limits))
        case Element.tracks: try headers?.readTracks(element.children(of: bytes, limits: limits))
        case Element.cues:
            guard let end = element.end else { throw .malformed }
            cues = element.start..<end
            try headers?.readCues(element.children(of: bytes, limits: limits), goal: goal, steps: limits.steps)
        case Element.cluster:
            guard let headers, !headers.delays.isEmpty else { throw .malformed }
            clocks = headers.delays.mapValues { _ in StreamClock() }
            (firstCluster, next) = (position, position)
        default: break
        }
        guard let next else { throw .malformed }
        position = next
    }

    /// Cues at the end of the file are fetched too, because players read them before they start or before they seek.
    private mutating func readCuesBehindClusters(_ bytes: MediaBytes) throws(Stop) {
        guard cues == nil, let place = headers?.cues, let firstCluster, place > firstCluster else { return }
        guard place < bytes.file.upperBound, !bytes.comesInOrder else { return }
        let element: Element
        do throws(Stop) { element = try Element(at: place, in: ByteView(bytes)) } catch {
            guard case .missing = error else { return }
            throw error
        }
        guard element.id == Element.cues, let end = element.end, end <= bytes.file.upperBound else { return }
        try headers?.readCues(element.children(of: bytes, limits: limits), goal: goal, steps: limits.steps)
        cues = place..<end
    }

    // MARK: - Clusters

    private mutating func readElement(_ view: ByteView) throws(Stop) {
        try spend()
        let element = try Element(at: position, in: view)
        switch element.id {
        case Element.cluster: position = element.content
        case Element.timestamp:
            clusterTime = Double(try element.unsigned(in: view))
            position = element.end ?? element.content
        case Element.simpleBlock:
            guard let blockEnd = element.end else { throw .malformed }
            try note(element, upTo: blockEnd, in: view)
        case Element.blockGroup:
            guard let groupEnd = element.end else { throw .malformed }
            // The block may have others before it.
            var place = element.content
            while place < groupEnd {
                try spend()
                let child = try Element(at: place, in: view)
                guard child.id != Element.block else {
                    try note(child, upTo: groupEnd, in: view)
                    return
                }
                guard let childEnd = child.end else { throw .malformed }
                place = childEnd
            }
            position = groupEnd
        default:
            guard let end = element.end else { throw .malformed }
            position = end
        }
    }

    /// A block's track and time stand at its beginning (RFC 9559 §10.1).
    private mutating func note(_ block: Element, upTo blockEnd: Int64, in view: ByteView) throws(Stop) {
        let (track, length) = try Element.variableNumber(at: block.content, in: view)
        let distance = Int16(truncatingIfNeeded: try view.u16(at: block.content + Int64(length)))
        if let track, let headers, let delay = headers.delays[UInt64(track)] {
            let time = (clusterTime + Double(distance)) * headers.scale - delay
            if clocks[UInt64(track)]?.note(time, goal: goal) == true { end = max(end, blockEnd) }
        }
        position = blockEnd
    }

    private mutating func spend() throws(Stop) {
        steps += 1
        guard steps <= limits.steps else { throw .malformed }
    }
}
