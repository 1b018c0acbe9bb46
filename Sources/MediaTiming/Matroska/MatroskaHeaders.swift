/// What stands before the clusters of a Matroska file: scale, tracks, and where the cues are (RFC 9559 §5.1).
struct MatroskaHeaders: Sendable {
    /// More tracks are not waited for.
    private static let mostTracks = 64

    /// Where positions in the segment count from.
    let dataStart: Int64
    /// Seconds of one unit of time.
    private(set) var scale = 0.001
    /// In units of time.
    private var length: Double?
    /// Audio and video tracks, and the seconds that their decoders drop.
    private(set) var delays: [UInt64: Double] = [:]
    /// Where `SeekHead` says that the cues stand.
    private(set) var cues: Int64?
    /// The first cluster at or behind the goal that the cues name.
    private(set) var point: Int64?

    init(dataStart: Int64) { self.dataStart = dataStart }

    /// In seconds.
    var duration: Double? {
        length.map { $0 * scale }.flatMap { $0 > 0 && $0.isFinite ? $0 : nil }
    }

    mutating func readInformation(_ elements: Element.Children) throws(Stop) {
        var elements = elements
        while let element = try elements.next() {
            switch element.id {
            case Element.timestampScale: scale = Double(max(1, try element.unsigned(in: elements.view))) / 1e9
            case Element.duration: length = try element.float(in: elements.view)
            default: break
            }
        }
    }

    mutating func readTracks(_ elements: Element.Children) throws(Stop) {
        var elements = elements
        while let entry = try elements.next() {
            guard entry.id == Element.trackEntry else { continue }
            guard delays.count < Self.mostTracks else { throw .malformed }
            var fields = try entry.children(in: elements.view)
            var (number, type, delay): (UInt64, UInt64, UInt64) = (0, 0, 0)
            while let field = try fields.next() {
                switch field.id {
                case Element.trackNumber: number = try field.unsigned(in: fields.view)
                case Element.trackType: type = try field.unsigned(in: fields.view)
                case Element.codecDelay: delay = try field.unsigned(in: fields.view)
                default: break
                }
            }
            // 1 is video, 2 audio (RFC 9559 §5.1.4.1.3).
            if type == 1 || type == 2 { delays[number] = Double(delay) / 1e9 }
        }
    }

    mutating func readSeekHead(_ elements: Element.Children) throws(Stop) {
        var elements = elements
        while let seek = try elements.next() {
            guard seek.id == Element.seek else { continue }
            var fields = try seek.children(in: elements.view)
            var (id, position): (UInt64, UInt64?) = (0, nil)
            while let field = try fields.next() {
                switch field.id {
                case Element.seekID: id = try field.unsigned(in: fields.view)
                case Element.seekPosition: position = try field.unsigned(in: fields.view)
                default: break
                }
            }
            guard id == Element.cues, let position, position <= MediaBytes.largestPosition else { continue }
            cues = try dataStart.moved(by: Int64(position))
        }
    }

    /// Reads cues up to the first at or behind the goal; they ascend.
    mutating func readCues(_ elements: Element.Children, goal: Double, steps: Int) throws(Stop) {
        var elements = elements
        var count = 0
        while point == nil, let cue = try elements.next() {
            count += 1
            guard count <= steps else { throw .malformed }
            guard cue.id == Element.cuePoint else { continue }
            var fields = try cue.children(in: elements.view)
            var time = 0.0
            while let field = try fields.next() {
                switch field.id {
                case Element.cueTime: time = Double(try field.unsigned(in: fields.view)) * scale
                case Element.cueTrackPositions where time >= goal: try readPosition(field.children(in: fields.view))
                default: break
                }
            }
        }
    }

    private mutating func readPosition(_ elements: Element.Children) throws(Stop) {
        var elements = elements
        while let field = try elements.next() {
            guard field.id == Element.cueClusterPosition else { continue }
            let position = try field.unsigned(in: elements.view)
            guard position <= MediaBytes.largestPosition else { throw .malformed }
            let place = try dataStart.moved(by: Int64(position))
            point = max(point ?? 0, place)
        }
    }
}
