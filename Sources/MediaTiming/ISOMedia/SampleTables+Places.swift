import ByteRanges

extension SampleTables {
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
