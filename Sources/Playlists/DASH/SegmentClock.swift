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

        func segment(_ target: LinkTarget, extent: ByteExtent) -> DASHSegment {
            DASHSegment(target: target, extent: extent, number: number, start: start, duration: duration)
        }
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
    func slots(count: Int?, limit: Int) throws(PlaylistError) -> [Slot] {
        if let timeline = information.timeline { return try slots(timeline, count: count ?? .max, limit: limit) }
        guard let duration = information.duration, duration > 0 else {
            return try slotsWithoutDuration(count, limit: limit)
        }
        var total = count.map(Int64.init)
        if total == nil, let last = information.endNumber { total = max(0, last - firstNumber + 1) }
        if total == nil, let length { total = length / duration + (length % duration == 0 ? 0 : 1) }
        guard let total, total <= Int64(limit) else { throw endless(limit) }
        return (0..<total).map { index in
            let elapsed = Double(index) * Double(duration)
            let (time, overflowed) = index.multipliedReportingOverflow(by: duration)
            let (sum, carried) = time.addingReportingOverflow(offset)
            let left = length.map { min(Double(duration), max(0, Double($0) - elapsed)) } ?? Double(duration)
            return Slot(
                number: firstNumber + index, time: overflowed || carried ? Int64.max : sum,
                start: elapsed / Double(timescale), duration: left / Double(timescale))
        }
    }

    /// A list tells its segments without their times, and a single segment needs none.
    private func slotsWithoutDuration(_ count: Int?, limit: Int) throws(PlaylistError) -> [Slot] {
        guard let count = count ?? (firstNumber == information.endNumber ? 1 : nil) else {
            throw PlaylistError(.incompleteTemplate, "Segments have no duration.")
        }
        guard count <= limit else { throw endless(limit) }
        let duration = count == 1 ? seconds(length) : nil
        return (0..<count).map { Slot(number: firstNumber + Int64($0), time: offset, start: 0, duration: duration) }
    }

    private func slots(
        _ runs: [SegmentInformation.Run], count: Int, limit: Int
    ) throws(PlaylistError) -> [Slot] {
        var result: [Slot] = []
        var time = offset
        for (index, run) in runs.enumerated() {
            time = run.time ?? time
            guard run.duration > 0 else { throw PlaylistError(.incompleteTemplate, "A run has no duration.") }
            var remaining: Int64
            if let repeats = run.repeats {
                remaining = repeats
            } else {
                let next = index + 1 < runs.count ? runs[index + 1].time : length.map { $0 + offset }
                guard let next else { throw endless(limit) }
                let units = max(0, next - time)
                remaining = units / run.duration + (units % run.duration == 0 ? 0 : 1) - 1
            }
            while remaining >= 0 {
                guard result.count < count else { return result }
                if let last = information.endNumber, firstNumber + Int64(result.count) > last { return result }
                guard result.count < limit else { throw endless(limit) }
                result.append(
                    Slot(
                        number: firstNumber + Int64(result.count), time: time,
                        start: Double(time - offset) / Double(timescale), duration: seconds(run.duration)))
                let (sum, overflowed) = time.addingReportingOverflow(run.duration)
                guard !overflowed, sum <= Number.largest * 2 else { throw endless(limit) }
                time = sum
                remaining -= 1
            }
        }
        return result
    }

    private func seconds(_ units: Int64?) -> Double? { units.map { Double($0) / Double(timescale) } }

    private func endless(_ limit: Int) -> PlaylistError {
        PlaylistError(.endless, "Nothing says where the segments end, or there are more than \(limit).")
    }
}
