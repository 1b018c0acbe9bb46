import ByteRanges

/// How far the tracks of a fragmented movie have come, fragment by fragment (ISO/IEC 14496-12 §8.8).
struct FragmentTimes: Sendable {
    /// A track's clock.
    private struct Clock: Sendable {
        let timescale: Double
        /// Where in the media the first edit begins, less the empty edits before it, in seconds.
        let shift: Double
        let defaults: Movie.FragmentDefaults
        /// The decoding time of the next sample, in units.
        var time = 0.0
        var hasSamples = false
        /// How long the first frame waits to be shown, in units; `nil` before it, 0 if an edit says where to begin.
        var lead: Double?
        /// The movie's own tables have all samples that are needed.
        var isComplete = false

        var seconds: Double { time / timescale - shift }
    }

    /// If one track is so many seconds ahead, the others have ended.
    private static let longestLag = 10.0

    private let goal: Double
    private let steps: Int
    private var clocks: [Int64: Clock] = [:]
    /// The earliest time of all tracks, in seconds; 0 for most files.
    private var origin: Double?
    /// Seconds that the indexes have passed, by the stream that they are for.
    private var indexed: [Int64: Double] = [:]

    init(_ movie: Movie, goal: Double, steps: Int) {
        (self.goal, self.steps) = (goal, steps)
        for track in movie.tracks {
            let empty = track.edits.prefix { $0.mediaTime == nil }
            let delay = empty.reduce(0.0) { $0 + Double($1.duration) / Double(movie.timescale) }
            let mediaTime = Double(track.edits.dropFirst(empty.count).first?.mediaTime ?? 0)
            // Fragments go on behind samples of the movie itself.
            if track.tables.sampleCount > 0 { origin = 0 }
            clocks[track.id] = Clock(
                timescale: Double(track.timescale), shift: mediaTime / Double(track.timescale) - delay,
                defaults: movie.defaults[track.id] ?? Movie.FragmentDefaults(), lead: track.edits.isEmpty ? nil : 0)
        }
    }

    /// Whether every track has all samples that are shown before the goal.
    var isDone: Bool {
        let origin = origin ?? 0
        return clocks.values.contains { $0.hasSamples && $0.seconds - origin >= goal + Self.longestLag }
            || clocks.values.allSatisfy { $0.isComplete || $0.hasSamples && $0.seconds - origin >= goal }
    }

    /// The movie's own tables have all samples of this track.
    mutating func complete(_ track: Int64) { clocks[track]?.isComplete = true }

    /// Seconds that all tracks have come.
    var elapsed: Double {
        let seconds = clocks.values.filter(\.hasSamples).map(\.seconds).min() ?? 0
        return max(0, seconds - (origin ?? 0))
    }

    /// Where to go on after an index: at the subsegment in which the goal lies.
    mutating func jump(_ index: SegmentIndex) throws(Stop) -> Int64 {
        let before = indexed[index.reference] ?? 0
        if before == 0 { origin = min(origin ?? .infinity, index.start) }
        let (position, time) = try index.place(of: goal - before)
        indexed[index.reference] = before + time
        return position
    }

    /// Adds the places of a fragment's samples that are shown before the goal.
    mutating func read(_ moof: Box, in view: ByteView, into places: inout ByteRangeSet) throws(Stop) {
        var runs: [TrackFragment] = []
        var boxes = moof.children(in: view)
        while let box = try boxes.next() {
            guard box.type == "traf" else { continue }
            guard runs.count < Movie.mostTracks else { throw .malformed }
            runs.append(try TrackFragment(box, in: view))
        }
        // On a copy, because a missing byte begins this again.
        var next = self
        for run in runs {
            guard let clock = next.clocks[run.track], let start = run.decodingTime else { continue }
            // Times that fall would walk the same seconds for ever.
            next.clocks[run.track]?.time = max(clock.time, start)
        }
        if next.origin == nil {
            next.origin = runs.compactMap { next.clocks[$0.track]?.seconds }.min()
        }
        var budget = SampleTables.Budget(steps)
        var end = moof.start
        for run in runs {
            end = try next.add(run, moof: moof.start, previousEnd: end, in: view, into: &places, budget: &budget)
        }
        self = next
    }

    /// Returns where the track's data end, where those of the next track begin that tells no offset.
    private mutating func add(
        _ fragment: TrackFragment, moof: Int64, previousEnd: Int64, in view: ByteView,
        into places: inout ByteRangeSet, budget: inout SampleTables.Budget
    ) throws(Stop) -> Int64 {
        let known = clocks[fragment.track]
        let defaults = known?.defaults ?? Movie.FragmentDefaults()
        var clock = known ?? Clock(timescale: 1, shift: 0, defaults: defaults)
        let end = (goal + (origin ?? 0) + clock.shift) * clock.timescale
        let base = fragment.baseOffset ?? (fragment.isBasedOnMovieFragment ? moof : previousEnd)
        var position = base
        for run in fragment.runs {
            if let offset = run.dataOffset { position = try base.moved(by: offset) }
            var wanted = ByteRangeSet()
            for index in 0..<run.count {
                try budget.spend()
                let sample = try run.sample(index, in: view)
                let size = sample.size ?? fragment.defaultSize ?? defaults.size
                let next = try position.moved(by: size)
                let lead = clock.lead ?? max(0, sample.offset)
                clock.lead = lead
                if clock.time + sample.offset < end + lead { wanted.insert(position..<next) }
                clock.time += Double(sample.duration ?? fragment.defaultDuration ?? defaults.duration)
                position = next
            }
            // Samples of other tracks, such as subtitles, are not waited for.
            guard known != nil, let first = wanted.bounds else { continue }
            // Up to the last one: a player reads a run in one go.
            places.insert(first)
        }
        if known != nil, !fragment.runs.isEmpty {
            clock.hasSamples = true
            clocks[fragment.track] = clock
        }
        return position
    }
}
