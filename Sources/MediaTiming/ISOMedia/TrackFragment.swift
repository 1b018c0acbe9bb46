/// A `traf` box: one track's samples in a fragment (ISO/IEC 14496-12 §8.8.6).
struct TrackFragment {
    /// One `trun` box (§8.8.8).
    struct Run {
        struct Sample {
            var duration: Int64?
            var size: Int64?
            /// From decoding to composition.
            var offset = 0.0
        }

        let count: Int64
        /// From the base of the fragment.
        let dataOffset: Int64?
        private let flags: Int64
        private let entries: Int64
        private let stride: Int64
        private let end: Int64

        init(_ trun: Box, in view: ByteView) throws(Stop) {
            let view = view.narrowed(to: trun.range)
            flags = try view.u32(at: trun.content) & 0xFF_FFFF
            var place = trun.content + 8
            count = try view.u32(at: trun.content + 4)
            if flags & 0x1 != 0 {
                dataOffset = try view.i32(at: place)
                place += 4
            } else {
                dataOffset = nil
            }
            if flags & 0x4 != 0 { place += 4 }
            entries = place
            stride = 4 * Int64((flags & 0xF00).nonzeroBitCount)
            end = trun.end
            guard count * stride <= trun.end - place else { throw .malformed }
        }

        func sample(_ index: Int64, in view: ByteView) throws(Stop) -> Sample {
            var sample = Sample()
            var place = entries + index * stride
            if flags & 0x100 != 0 {
                sample.duration = try view.u32(at: place)
                place += 4
            }
            if flags & 0x200 != 0 {
                sample.size = try view.u32(at: place)
                place += 4
            }
            if flags & 0x400 != 0 { place += 4 }
            // Version 0 has unsigned offsets, but no file has offsets beyond 31 bits.
            if flags & 0x800 != 0 { sample.offset = Double(try view.i32(at: place)) }
            return sample
        }
    }

    /// More runs in a fragment are malformed.
    private static let mostRuns = 4096

    private(set) var track: Int64 = 0
    private(set) var baseOffset: Int64?
    private(set) var defaultDuration: Int64?
    private(set) var defaultSize: Int64?
    private(set) var isBasedOnMovieFragment = false
    /// In units of the track's timescale (§8.8.12).
    private(set) var decodingTime: Double?
    private(set) var runs: [Run] = []

    init(_ traf: Box, in view: ByteView) throws(Stop) {
        var boxes = traf.children(in: view)
        while let box = try boxes.next() {
            switch box.type {
            case "tfhd": try readHeader(box, in: view.narrowed(to: box.range))
            case "tfdt":
                let isLong = try view.u8(at: box.content) == 1
                decodingTime = Double(
                    try view.narrowed(to: box.range).number(at: box.content + 4, count: isLong ? 8 : 4))
            case "trun":
                guard runs.count < Self.mostRuns else { throw .malformed }
                runs.append(try Run(box, in: view))
            default: break
            }
        }
    }

    private mutating func readHeader(_ tfhd: Box, in view: ByteView) throws(Stop) {
        let flags = try view.u32(at: tfhd.content) & 0xFF_FFFF
        track = try view.u32(at: tfhd.content + 4)
        isBasedOnMovieFragment = flags & 0x20000 != 0
        var place = tfhd.content + 8
        if flags & 0x1 != 0 {
            baseOffset = try view.offset(at: place)
            place += 8
        }
        if flags & 0x2 != 0 { place += 4 }
        if flags & 0x8 != 0 {
            defaultDuration = try view.u32(at: place)
            place += 4
        }
        if flags & 0x10 != 0 { defaultSize = try view.u32(at: place) }
    }
}
