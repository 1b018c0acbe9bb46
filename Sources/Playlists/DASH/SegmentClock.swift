/// Numbers and times of a representation's segments (ISO/IEC 23009-1 §5.3.9.5.3, §5.3.9.6).
struct SegmentClock {
    /// One segment's place in time.
    struct Slot {
        let number: Int64
        /// In units of the timescale, the presentation time offset included.
        let time: Int64
        /// In seconds, from the start of the period.
        let start: Double
        /// In seconds.
        let duration: Double?
    }

    private let information: SegmentInformation
    private let timescale: Int64
    private let offset: Int64
    private let firstNumber: Int64
    /// Units from the time offset to the end of the period; `nil` if it has no end.
    private let length: Int64?

    init(_ information: SegmentInformation, periodDuration: Double?) {
        self.information = information
        let timescale = max(1, information.timescale ?? 1)
        self.timescale = timescale
        offset = information.presentationTimeOffset ?? 0
        firstNumber = information.startNumber ?? 1
        let units = periodDuration.map { $0 * Double(timescale) }
        // Rounded, so that 3.0000000001 segments are three.
        length = units.flatMap { $0 < Double(Number.largest) ? Int64($0 + 0.5) : nil }
    }

    /// All segments: as many as `count` says, or as the timeline, the period or the last number allow.
    ///
    /// Counts them without making them: one step for each run of a timeline.
    func slots(count: Int?, limit: Int, within budget: PlaylistBudget) throws(PlaylistError) -> SegmentSlots {
        if let timeline = information.timeline {
            return try slots(timeline, count: count ?? .max, limit: limit, within: budget)
        }
        guard let duration = information.duration, duration > 0 else {
            return try slotsWithoutDuration(count, limit: limit)
        }
        var total = count.map(Int64.init)
        if total == nil, let last = information.endNumber { total = max(0, last - firstNumber + 1) }
        if total == nil, let length { total = length / duration + (length % duration == 0 ? 0 : 1) }
        guard let total, total <= Int64(limit) else { throw endless(limit) }
        let all = Double(total) * Double(duration)
        let longest = length.map { Double(min(duration, $0)) } ?? Double(duration)
        let times = SegmentTimes(
            total: (length.map { min(all, Double($0)) } ?? all) / Double(timescale),
            longest: longest / Double(timescale))
        return SegmentSlots(count: Int(total), times: total > 0 ? times : nil, layout: .even(duration), clock: self)
    }

    /// A list tells its segments without their times, and a single segment needs none.
    private func slotsWithoutDuration(_ count: Int?, limit: Int) throws(PlaylistError) -> SegmentSlots {
        guard let count = count ?? (firstNumber == information.endNumber ? 1 : nil) else {
            throw PlaylistError(.incompleteTemplate, "Segments have no duration.")
        }
        guard count <= limit else { throw endless(limit) }
        let duration = count == 1 ? length.map(seconds) : nil
        return SegmentSlots(
            count: count, times: duration.map { SegmentTimes(total: $0, longest: $0) }, layout: .untimed(duration),
            clock: self)
    }

    private func slots(
        _ runs: [SegmentInformation.Run], count: Int, limit: Int, within budget: PlaylistBudget
    ) throws(PlaylistError) -> SegmentSlots {
        var most = Int64(count)
        if let last = information.endNumber { most = min(most, max(0, last - firstNumber + 1)) }
        var (total, units, longest) = (Int64(0), 0.0, Int64(0))
        var time = offset
        for (index, run) in runs.enumerated() {
            try budget.spend()
            time = run.time ?? time
            guard run.duration > 0 else { throw PlaylistError(.incompleteTemplate, "A run has no duration.") }
            guard let all = self.count(of: index, in: runs, from: time) else { throw endless(limit) }
            let taken = min(all, most - total)
            guard total + taken <= Int64(limit) else { throw endless(limit) }
            let (span, overflowed) = taken.multipliedReportingOverflow(by: run.duration)
            let (end, carried) = time.addingReportingOverflow(span)
            guard !overflowed, !carried, end <= Number.largest * 2 else { throw endless(limit) }
            time = end
            total += taken
            units += Double(span)
            if taken > 0 { longest = max(longest, run.duration) }
            if taken < all { break }
        }
        let times = SegmentTimes(total: units / Double(timescale), longest: seconds(longest))
        return SegmentSlots(count: Int(total), times: total > 0 ? times : nil, layout: .runs(runs), clock: self)
    }

    /// Number of segments in a run that begins at `time`; `nil` if nothing says where it ends.
    fileprivate func count(of index: Int, in runs: [SegmentInformation.Run], from time: Int64) -> Int64? {
        let run = runs[index]
        if let repeats = run.repeats { return repeats + 1 }
        guard let next = index + 1 < runs.count ? runs[index + 1].time : length.map({ $0 + offset }) else { return nil }
        let units = max(0, next - time)
        return units / run.duration + (units % run.duration == 0 ? 0 : 1)
    }

    /// The segment at `index` of segments of equal duration.
    fileprivate func slot(_ index: Int, ofDuration duration: Int64) -> Slot {
        let elapsed = Double(index) * Double(duration)
        let (time, overflowed) = Int64(index).multipliedReportingOverflow(by: duration)
        let (sum, carried) = time.addingReportingOverflow(offset)
        let left = length.map { min(Double(duration), max(0, Double($0) - elapsed)) } ?? Double(duration)
        return Slot(
            number: firstNumber + Int64(index), time: overflowed || carried ? Int64.max : sum,
            start: elapsed / Double(timescale), duration: left / Double(timescale))
    }

    /// The segment at `index` of a list without times.
    fileprivate func slot(_ index: Int, lasting duration: Double?) -> Slot {
        Slot(number: firstNumber + Int64(index), time: offset, start: 0, duration: duration)
    }

    /// The segment at `index`, which begins at `time` and lasts for so many units.
    fileprivate func slot(_ index: Int, at time: Int64, units: Int64) -> Slot {
        Slot(
            number: firstNumber + Int64(index), time: time, start: Double(time - offset) / Double(timescale),
            duration: seconds(units))
    }

    fileprivate var offsetOfPeriod: Int64 { offset }

    private func seconds(_ units: Int64) -> Double { Double(units) / Double(timescale) }

    private func endless(_ limit: Int) -> PlaylistError {
        PlaylistError(.endless, "Nothing says where the segments end, or there are more than \(limit).")
    }
}

/// How long the segments of a representation are, in seconds.
package struct SegmentTimes: Hashable, Sendable {
    /// All of them together.
    package let total: Double
    /// The longest.
    package let longest: Double
}

/// The places of segments in time, made one at a time.
struct SegmentSlots: Sequence {
    enum Layout {
        /// Of this many units each, the last up to the end of the period.
        case even(Int64)
        /// At no known times.
        case untimed(Double?)
        case runs([SegmentInformation.Run])
    }

    let count: Int
    /// `nil` if there are no segments, or their durations are not known.
    let times: SegmentTimes?
    let layout: Layout
    let clock: SegmentClock

    struct Iterator: IteratorProtocol {
        private let slots: SegmentSlots
        private var index = 0
        /// Of a timeline: the next run, what is left of the current one, and when its next segment begins.
        private var run = 0
        private var (left, units): (Int64, Int64) = (0, 0)
        private var time: Int64

        init(_ slots: SegmentSlots) {
            self.slots = slots
            time = slots.clock.offsetOfPeriod
        }

        mutating func next() -> SegmentClock.Slot? {
            guard index < slots.count else { return nil }
            defer { index += 1 }
            switch slots.layout {
            case .even(let duration): return slots.clock.slot(index, ofDuration: duration)
            case .untimed(let duration): return slots.clock.slot(index, lasting: duration)
            case .runs(let runs):
                while left <= 0 {
                    guard run < runs.count else { return nil }
                    time = runs[run].time ?? time
                    left = slots.clock.count(of: run, in: runs, from: time) ?? 0
                    units = runs[run].duration
                    run += 1
                }
                let slot = slots.clock.slot(index, at: time, units: units)
                time += units
                left -= 1
                return slot
            }
        }
    }

    func makeIterator() -> Iterator { Iterator(self) }
}
