/// An audio or video track, or another one, of a movie (ISO/IEC 14496-12 §8.3).
struct Track {
    /// An edit: which part of the media is shown next (§8.6.6).
    struct Edit {
        /// In units of the movie's timescale; 0 for the rest of the media.
        let duration: Int64
        /// In units of the track's timescale; `nil` for an empty edit.
        let mediaTime: Int64?
    }

    /// More edits than this are not looked at.
    static let mostEdits = 64

    private(set) var id: Int64 = 0
    /// Whether it is audio or video.
    private(set) var isMedia = false
    private(set) var timescale: Int64 = 1
    private(set) var edits: [Edit] = []
    private(set) var tables = SampleTables()

    init(_ trak: Box, in view: ByteView) throws(Stop) {
        var boxes = trak.children(in: view)
        while let box = try boxes.next() {
            switch box.type {
            case "tkhd":
                let isLong = try view.u8(at: box.content) == 1
                id = try view.narrowed(to: box.range).u32(at: box.content + (isLong ? 20 : 12))
            case "edts": try readEdits(box, in: view)
            case "mdia": try readMedia(box, in: view)
            default: break
            }
        }
    }

    private mutating func readEdits(_ edts: Box, in view: ByteView) throws(Stop) {
        var boxes = edts.children(in: view)
        while let box = try boxes.next() {
            guard box.type == "elst" else { continue }
            let view = view.narrowed(to: box.range)
            let isLong = try view.u8(at: box.content) == 1
            let size: Int64 = isLong ? 20 : 12
            let count = min(try view.u32(at: box.content + 4), Int64(Self.mostEdits))
            for index in 0..<count {
                let entry = box.content + 8 + index * size
                let duration = try isLong ? view.offset(at: entry) : view.u32(at: entry)
                let time =
                    isLong
                    ? Int64(bitPattern: try view.number(at: entry + 8, count: 8)) : try view.i32(at: entry + 4)
                guard time <= MediaBytes.largestPosition else { throw .malformed }
                edits.append(Edit(duration: duration, mediaTime: time < 0 ? nil : time))
            }
        }
    }

    private mutating func readMedia(_ mdia: Box, in view: ByteView) throws(Stop) {
        var boxes = mdia.children(in: view)
        while let box = try boxes.next() {
            switch box.type {
            case "mdhd": (timescale, _) = try Movie.times(box, in: view)
            case "hdlr":
                let handler = try view.narrowed(to: box.range).type(at: box.content + 8)
                isMedia = handler == "soun" || handler == "vide"
            case "minf":
                var inner = box.children(in: view)
                while let box = try inner.next() {
                    if box.type == "stbl" { tables = try SampleTables(box, in: view) }
                }
            default: break
            }
        }
    }

    /// The parts of the media, in seconds, that are shown in the first `goal` seconds.
    ///
    /// Without edits the first frame counts as the beginning, which waits `lead` units to be shown.
    func intervals(goal: Double, movieTimescale: Int64, lead: Int64) -> [Range<Double>] {
        if edits.isEmpty { return [0..<goal + Double(max(0, lead)) / Double(timescale)] }
        var shown: [Range<Double>] = []
        var elapsed = 0.0
        for (index, edit) in edits.enumerated() where elapsed < goal {
            // The last edit's duration is rounded, and may hide the last sample.
            let isLast = index == edits.count - 1 || edit.duration == 0
            let duration = Double(edit.duration) / Double(movieTimescale)
            let visible = isLast && edit.mediaTime != nil ? goal - elapsed : min(duration, goal - elapsed)
            if let time = edit.mediaTime {
                let start = Double(time) / Double(timescale)
                shown.append(start..<start + max(0, visible))
            }
            elapsed += visible
        }
        return shown
    }
}
