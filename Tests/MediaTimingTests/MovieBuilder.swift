import ByteRanges

/// A track of a file that a test makes, and what a naive reader of it finds.
struct TestTrack {
    struct Sample {
        var duration = 100
        /// From decoding to composition.
        var offset = 0
        var size = 1000
        var isSync = true
    }

    var id = 1
    var handler = "vide"
    var timescale = 1000
    var samples: [Sample] = []
    /// Samples of each chunk.
    var chunks: [Int] = []
    /// Duration in the movie's timescale of 1,000, and media time; −1 for an empty edit.
    var edits: [(duration: Int, time: Int)] = []
    var isLong = false
    /// Bits of a size; 0 if all samples have the same.
    var sizeBits = 32

    /// The box for chunks that begin at `places`.
    func trak(_ places: [Int]) -> [UInt8] {
        let entries = edits.flatMap { big($0.duration) + big($0.time) + big(0x1_0000) }
        let edts = edits.isEmpty ? [] : box("edts", box("elst", big(0), big(edits.count), entries))
        let tkhd = box("tkhd", big(7), big(0, 8), big(id), filler(68))
        let mdhd = box("mdhd", big(0), big(0, 8), big(timescale), big(0), big(0))
        let hdlr = box("hdlr", big(0), big(0), Array(handler.utf8), filler(13))
        return box("trak", tkhd, edts, box("mdia", mdhd, hdlr, box("minf", stbl(places))))
    }

    private func stbl(_ places: [Int]) -> [UInt8] {
        let count = big(samples.count)
        var tables = box("stts", big(0), count, samples.flatMap { big(1) + big($0.duration) })
        if samples.contains(where: { $0.offset != 0 }) {
            tables += box("ctts", big(1 << 24), count, samples.flatMap { big(1) + big($0.offset) })
        }
        if samples.contains(where: { !$0.isSync }) {
            let sync = samples.indices.filter { samples[$0].isSync }
            tables += box("stss", big(0), big(sync.count), sync.flatMap { big($0 + 1) })
        }
        let runs = chunks.enumerated().flatMap { big($0 + 1) + big($1) + big(1) }
        tables += box("stsc", big(0), big(chunks.count), runs)
        switch sizeBits {
        case 0: tables += box("stsz", big(0), big(samples.first?.size ?? 0), count)
        case 32: tables += box("stsz", big(0), big(0), count, samples.flatMap { big($0.size) })
        case 4:
            let sizes = samples.map(\.size) + [0]
            let pairs = stride(from: 0, to: samples.count, by: 2).map { UInt8(sizes[$0] << 4 | sizes[$0 + 1]) }
            tables += box("stz2", big(0), big(4), count, pairs)
        default: tables += box("stz2", big(0), big(sizeBits), count, samples.flatMap { big($0.size, sizeBits / 8) })
        }
        return box(
            "stbl",
            tables
                + box(isLong ? "co64" : "stco", big(0), big(places.count), places.flatMap { big($0, isLong ? 8 : 4) }))
    }

    /// Where the samples stand that are needed up to the last one shown before `time`, in the track's units.
    func needed(before time: Int, _ places: [Int]) -> ByteRangeSet {
        var (result, sample, decoding) = (ByteRangeSet(), 0, 0)
        var (spans, needed): ([Range<Int64>], Int) = ([], 0)
        for (place, count) in zip(places, chunks) {
            var position = place
            for _ in 0..<count {
                spans.append(Int64(position)..<Int64(position + samples[sample].size))
                if decoding + samples[sample].offset < time { needed = sample + 1 }
                position += samples[sample].size
                decoding += samples[sample].duration
                sample += 1
            }
        }
        for span in spans.prefix(needed) { result.insert(span) }
        return result
    }
}

/// The `moov` box of these tracks.
func moov(_ tracks: [(TestTrack, places: [Int])], _ more: [UInt8] = []) -> [UInt8] {
    let mvhd = box("mvhd", big(0), big(0, 8), big(1000), big(60_000), filler(80))
    return box("moov", mvhd, tracks.flatMap { $0.trak($1) }, more)
}

/// The `ftyp` box that the files begin with.
let ftyp = box("ftyp", Array("isomiso2".utf8))
