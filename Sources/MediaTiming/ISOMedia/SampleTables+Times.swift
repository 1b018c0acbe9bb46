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
}
