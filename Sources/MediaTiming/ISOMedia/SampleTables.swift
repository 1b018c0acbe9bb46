/// Where the tables of a track stand (ISO/IEC 14496-12 §8.5); their entries are read when they are needed.
struct SampleTables {
    /// Entries of one size.
    struct Table {
        /// Where the first entry stands.
        let start: Int64
        /// As many as the box has room for, whatever it claims.
        let count: Int64
        let stride: Int64

        func place(_ index: Int64) -> Int64 { start + index * stride }
    }

    /// Sizes of samples (§8.7.3).
    enum Sizes {
        case same(size: Int64, count: Int64)
        /// Each with this many bits.
        case each(Table, bits: Int64)

        var count: Int64 {
            switch self {
            case .same(_, let count): count
            case .each(let table, let bits): bits == 4 ? table.count * 2 : table.count
            }
        }
    }

    private(set) var timeToSample: Table?
    private(set) var compositionOffsets: Table?
    private(set) var syncSamples: Table?
    private(set) var sampleToChunk: Table?
    private(set) var chunkOffsets: Table?
    private(set) var sizes: Sizes?

    /// No samples, as in movies that consist of fragments.
    init() {}

    init(_ stbl: Box, in view: ByteView) throws(Stop) {
        var boxes = stbl.children(in: view)
        while let box = try boxes.next() {
            switch box.type {
            case "stts": timeToSample = try Self.table(box, in: view, stride: 8)
            case "ctts": compositionOffsets = try Self.table(box, in: view, stride: 8)
            case "stss": syncSamples = try Self.table(box, in: view, stride: 4)
            case "stsc": sampleToChunk = try Self.table(box, in: view, stride: 12)
            case "stco": chunkOffsets = try Self.table(box, in: view, stride: 4)
            case "co64": chunkOffsets = try Self.table(box, in: view, stride: 8)
            case "stsz":
                let view = view.narrowed(to: box.range)
                let size = try view.u32(at: box.content + 4)
                sizes =
                    size > 0
                    ? .same(size: size, count: try view.u32(at: box.content + 8))
                    : .each(try Self.table(box, in: view, stride: 4, countAt: 8), bits: 32)
            case "stz2":
                let view = view.narrowed(to: box.range)
                let bits = try view.u8(at: box.content + 7)
                guard [4, 8, 16].contains(bits) else { throw .malformed }
                sizes = .each(try Self.table(box, in: view, stride: max(1, bits / 8), countAt: 8), bits: bits)
            default: break
            }
        }
    }

    private static func table(
        _ box: Box, in view: ByteView, stride: Int64, countAt place: Int64 = 4
    ) throws(Stop) -> Table {
        let count = try view.narrowed(to: box.range).u32(at: box.content + place)
        let start = box.content + place + 4
        return Table(start: start, count: min(count, max(0, box.end - start) / stride), stride: stride)
    }

    /// Samples that the tables have a size for.
    var sampleCount: Int64 { sizes?.count ?? 0 }
}
