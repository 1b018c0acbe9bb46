/// A `sidx` box (ISO/IEC 14496-12 §8.16.3): sizes and durations of the subsegments behind it.
struct SegmentIndex {
    /// The stream whose times these are.
    let reference: Int64
    private let timescale: Int64
    /// The first presentation time, in seconds.
    let start: Double
    /// The byte that `first_offset` counts from, plus that offset.
    private let anchor: Int64
    private let entries: Range<Int64>
    private let view: ByteView

    init(_ sidx: Box, in view: ByteView) throws(Stop) {
        let view = view.narrowed(to: sidx.range)
        let isLong = try view.u8(at: sidx.content) != 0
        reference = try view.u32(at: sidx.content + 4)
        timescale = try view.u32(at: sidx.content + 8)
        let times = sidx.content + 12
        let first: UInt64
        if isLong {
            first = try view.number(at: times, count: 8)
            anchor = try sidx.end.moved(by: view.offset(at: times + 8))
        } else {
            first = try view.number(at: times, count: 4)
            anchor = try sidx.end.moved(by: view.u32(at: times + 4))
        }
        let counts = times + (isLong ? 16 : 8)
        let count = try view.u16(at: counts + 2)
        guard timescale > 0 else { throw .malformed }
        start = Double(first) / Double(timescale)
        entries = 0..<min(count, (sidx.end - counts - 4) / 12)
        self.view = view
        entryStart = counts + 4
    }

    private let entryStart: Int64

    /// Where the subsegment, or the index of the next level, begins in which `time` lies, and its time.
    ///
    /// Times count from the index's first subsegment. Behind the last one if that ends before `time`.
    func place(of time: Double) throws(Stop) -> (position: Int64, time: Double) {
        var (position, units): (Int64, Int64) = (anchor, 0)
        for index in entries {
            let size = try view.u32(at: entryStart + index * 12) & 0x7FFF_FFFF
            let duration = try view.u32(at: entryStart + index * 12 + 4)
            // 65,535 numbers of 32 bits do not overflow.
            if Double(units + duration) / Double(timescale) >= time { break }
            position = try position.moved(by: size)
            units += duration
        }
        return (position, Double(units) / Double(timescale))
    }
}
