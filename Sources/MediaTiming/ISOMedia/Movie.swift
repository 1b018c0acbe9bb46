/// What the `moov` box says (ISO/IEC 14496-12 §8.2.1).
struct Movie {
    /// The defaults of a track's fragments (§8.8.3).
    struct FragmentDefaults {
        var duration: Int64 = 0
        var size: Int64 = 0
    }

    /// More tracks are not looked at.
    static let mostTracks = 64

    /// Where the box stands.
    let range: Range<Int64>
    private(set) var timescale: Int64 = 1000
    /// In seconds; `nil` if it is not told.
    private(set) var duration: Double?
    /// The audio and video tracks.
    private(set) var tracks: [Track] = []
    /// Whether fragments may follow.
    private(set) var isFragmented = false
    /// By track.
    private(set) var defaults: [Int64: FragmentDefaults] = [:]

    init(_ moov: Box, in view: ByteView) throws(Stop) {
        range = moov.range
        var trackCount = 0
        var boxes = moov.children(in: view)
        while let box = try boxes.next() {
            switch box.type {
            case "mvhd": (timescale, duration) = try Self.times(box, in: view)
            case "trak":
                trackCount += 1
                guard trackCount <= Self.mostTracks else { throw .malformed }
                let track = try Track(box, in: view)
                if track.isMedia { tracks.append(track) }
            case "mvex": try readExtension(box, in: view)
            default: break
            }
        }
    }

    private mutating func readExtension(_ mvex: Box, in view: ByteView) throws(Stop) {
        isFragmented = true
        var boxes = mvex.children(in: view)
        while let box = try boxes.next() {
            let view = view.narrowed(to: box.range)
            switch box.type {
            case "trex":
                guard defaults.count < Self.mostTracks else { throw .malformed }
                let id = try view.u32(at: box.content + 4)
                defaults[id] = FragmentDefaults(
                    duration: try view.u32(at: box.content + 12), size: try view.u32(at: box.content + 16))
            case "mehd":
                let isLong = try view.u8(at: box.content) == 1
                let length = try isLong ? view.offset(at: box.content + 4) : view.u32(at: box.content + 4)
                if length > 0 { duration = Double(length) / Double(timescale) }
            default: break
            }
        }
    }

    /// Timescale and duration in seconds, as `mvhd` and `mdhd` tell them (§8.2.2, §8.4.2).
    static func times(_ box: Box, in view: ByteView) throws(Stop) -> (Int64, Double?) {
        let view = view.narrowed(to: box.range)
        let isLong = try view.u8(at: box.content) == 1
        let scale = try view.u32(at: box.content + (isLong ? 20 : 12))
        guard scale > 0 else { throw .malformed }
        let place = box.content + (isLong ? 24 : 16)
        let length = try isLong ? view.number(at: place, count: 8) : view.number(at: place, count: 4)
        // All ones mean that it is not known.
        let isKnown = length > 0 && length < (isLong ? UInt64(MediaBytes.largestPosition) : UInt64(UInt32.max))
        return (scale, isKnown ? Double(length) / Double(scale) : nil)
    }
}
