import ByteRanges

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

extension SampleTables {
    /// Counts what is read, so that tables of billions of entries end.
    struct Budget {
        private(set) var steps: Int

        init(_ steps: Int) { self.steps = steps }

        mutating func spend(_ count: Int = 1) throws(Stop) {
            steps -= count
            guard steps >= 0 else { throw .malformed }
        }
    }

    /// Runs of samples with one value, as `stts` and `ctts` tell them.
    private struct Runs {
        let table: Table?
        /// Samples that are left of the current run; without a table, one run has them all.
        private(set) var left: Int64 = .max
        private(set) var value: Int64 = 0
        private var index: Int64 = 0

        init(_ table: Table?) {
            self.table = table
            if table != nil { left = 0 }
        }

        /// Goes to the next run that has samples; `false` at the end.
        mutating func advance(_ view: ByteView, budget: inout Budget) throws(Stop) -> Bool {
            while left == 0 {
                guard let table, index < table.count else { return false }
                try budget.spend()
                left = try view.u32(at: table.place(index))
                value = try view.i32(at: table.place(index) + 4)
                index += 1
            }
            return true
        }

        mutating func consume(_ count: Int64) { left -= count }
    }

    /// The number of samples, in decoding order, up to the last one that is shown before `time`, in units of the
    /// timescale (§8.6.1).
    ///
    /// Samples that are decoded up to `lag` later may be shown before, because their offsets are negative.
    func sampleCount(
        before time: Double, lag: Double, in view: ByteView, budget: inout Budget
    ) throws(Stop) -> Int64 {
        var (durations, offsets) = (Runs(timeToSample), Runs(compositionOffsets))
        var (sample, decodingTime, result): (Int64, Double, Int64) = (0, 0, 0)
        while sample < sampleCount, try durations.advance(view, budget: &budget) {
            if try !offsets.advance(view, budget: &budget) { offsets = Runs(nil) }
            let count = min(durations.left, offsets.left, sampleCount - sample)
            // Negative durations, which some files have, count as none.
            let (duration, offset) = (Double(max(0, durations.value)), Double(offsets.value))
            let span = time - offset - decodingTime
            if span > 0 {
                let fitting = duration > 0 ? Int64(saturating: (span / duration).rounded(.up)) : count
                result = sample + min(count, fitting)
            }
            decodingTime += Double(count) * duration
            sample += count
            durations.consume(count)
            offsets.consume(count)
            if decodingTime >= time + lag { break }
        }
        return result
    }

    /// How long the first sample waits from decoding to be shown, in units of the timescale (§8.6.1.3).
    func lead(_ view: ByteView) throws(Stop) -> Int64 {
        guard let compositionOffsets, compositionOffsets.count > 0 else { return 0 }
        return try view.i32(at: compositionOffsets.place(0) + 4)
    }

    /// The last sync sample at or before the sample that is decoded at `time` (§8.6.2).
    func syncSample(at time: Double, in view: ByteView, budget: inout Budget) throws(Stop) -> Int64 {
        var durations = Runs(timeToSample)
        var (sample, decodingTime): (Int64, Double) = (0, 0)
        while sample < sampleCount, try durations.advance(view, budget: &budget) {
            let duration = Double(max(0, durations.value))
            let fitting = duration > 0 ? Int64(saturating: (time - decodingTime) / duration) : durations.left
            let count = min(durations.left, fitting)
            sample += count
            if count < durations.left { break }
            decodingTime += Double(count) * duration
            durations.consume(count)
        }
        guard let syncSamples else { return min(sample, sampleCount) }
        // Numbers of samples, from 1 on, ascending.
        var (low, high): (Int64, Int64) = (0, syncSamples.count)
        while low < high {
            let middle = (low + high) / 2
            if try view.u32(at: syncSamples.place(middle)) <= sample + 1 { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? 0 : max(0, try view.u32(at: syncSamples.place(low - 1)) - 1)
    }

    /// Adds where these samples stand in the file: chunk by chunk (ISO/IEC 14496-12 §8.7.4, §8.7.5).
    func insertPlaces(
        of samples: Range<Int64>, into places: inout ByteRangeSet, in view: ByteView, budget: inout Budget
    ) throws(Stop) {
        guard let sampleToChunk, let chunkOffsets, !samples.isEmpty else { return }
        var first: Int64 = 0
        for index in 0..<sampleToChunk.count where first < samples.upperBound {
            try budget.spend()
            let chunk = try view.u32(at: sampleToChunk.place(index))
            let size = try view.u32(at: sampleToChunk.place(index) + 4)
            let next =
                index + 1 < sampleToChunk.count
                ? try view.u32(at: sampleToChunk.place(index + 1)) : chunkOffsets.count + 1
            guard chunk >= 1, next >= chunk, size > 0 else { throw .malformed }
            let end = min(next, chunkOffsets.count + 1)
            // Neither can overflow: both factors have 32 bits at most.
            let skipped = max(0, (samples.lowerBound - first) / size)
            for number in min(chunk + skipped, end)..<max(end, min(chunk + skipped, end)) {
                let start = first + (number - chunk) * size
                guard start < samples.upperBound else { return }
                try budget.spend()
                let wanted = (start..<start + size).clamped(to: samples)
                let offset = try offset(of: number - 1, table: chunkOffsets, in: view)
                let before = try byteCount(start..<max(start, wanted.lowerBound), in: view, budget: &budget)
                let length = try byteCount(wanted, in: view, budget: &budget)
                let place = try offset.moved(by: before)
                places.insert(place..<(try place.moved(by: length)))
            }
            let (count, overflowed) = max(0, end - chunk).multipliedReportingOverflow(by: size)
            guard !overflowed else { throw .malformed }
            first = try first.moved(by: count)
        }
    }

    private func offset(of chunk: Int64, table: Table, in view: ByteView) throws(Stop) -> Int64 {
        let place = table.place(chunk)
        return try table.stride == 8 ? view.offset(at: place) : view.u32(at: place)
    }

    /// The sizes of these samples together.
    private func byteCount(_ samples: Range<Int64>, in view: ByteView, budget: inout Budget) throws(Stop) -> Int64 {
        let samples = samples.clamped(to: 0..<sampleCount)
        switch sizes {
        case .same(let size, _):
            let (total, overflowed) = size.multipliedReportingOverflow(by: Int64(samples.count))
            guard !overflowed else { throw .malformed }
            return total
        case .each(let table, let bits):
            try budget.spend(samples.count)
            var total: Int64 = 0
            for sample in samples {
                switch bits {
                case 4:
                    let pair = try view.u8(at: table.place(sample / 2))
                    total += sample % 2 == 0 ? pair >> 4 : pair & 15
                case 8: total += try view.u8(at: table.place(sample))
                case 16: total += try view.u16(at: table.place(sample))
                default: total += try view.u32(at: table.place(sample))
                }
            }
            return total
        case nil: return 0
        }
    }
}
