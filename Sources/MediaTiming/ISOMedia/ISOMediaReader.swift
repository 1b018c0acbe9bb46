import ByteRanges

/// Walks the boxes of a file: `moov` at either end, or fragments with and without an index.
struct ISOMediaReader: FormatReader {
    let format = MediaFormat.isoMedia
    private let goal: Double
    private let limits: TimingLimits
    /// Where the next box begins.
    private var position: Int64 = 0
    private var headers = ByteRangeSet()
    private var movie: Movie?
    /// How many tracks of the movie have their places in `samples`.
    private var placedTracks = 0
    private var samples = ByteRangeSet()
    private var fragments: FragmentTimes?

    /// Other boxes of up to this size are read by players on their way.
    private static let smallBox: Int64 = 1 << 20

    init(goal: Double, limits: TimingLimits) {
        (self.goal, self.limits) = (goal, limits)
    }

    /// The tables of a large `moov` are read in any order.
    var keptFrom: Int64 { fragments == nil ? 0 : position }

    var outlook: Outlook {
        Outlook(
            headers: headers.union(samples), mediaStart: headers.storedPrefix(from: 0).upperBound, position: position,
            elapsed: fragments?.elapsed ?? 0, duration: movie?.duration)
    }

    mutating func read(_ bytes: MediaBytes) throws(Stop) -> ByteRangeSet {
        while position < bytes.file.upperBound {
            if let found = try placed(bytes) { return found }
            let box: Box
            do throws(Stop) { box = try Box(at: position, in: ByteView(bytes)) } catch {
                guard case .end = error else { throw error }
                break
            }
            try read(box, in: bytes)
        }
        guard let found = try finished(bytes) else { throw .malformed }
        return found
    }

    private mutating func read(_ box: Box, in bytes: MediaBytes) throws(Stop) {
        var next = box.end
        switch box.type {
        case "moov" where movie == nil:
            headers.insert(box.range)
            let movie = try Movie(box, in: view(of: box, in: bytes))
            guard !movie.tracks.isEmpty else { throw .malformed }
            self.movie = movie
            if movie.isFragmented { fragments = FragmentTimes(movie, goal: goal, steps: limits.steps) }
        case "moof":
            headers.insert(box.range)
            // Without a `moov` before it, nothing tells the timescale.
            guard fragments != nil else { throw .malformed }
            let view = view(of: box, in: bytes)
            try fragments?.read(box, in: view, into: &samples)
        case "sidx" where fragments != nil:
            headers.insert(box.range)
            let index = try SegmentIndex(box, in: view(of: box, in: bytes))
            if let jump = try fragments?.jump(index) {
                next = jump
                headers.insert(0..<jump)
            }
        case "mdat": headers.insert(box.start..<box.content)
        case "free", "skip", "wide": headers.insert(box.start..<min(box.end, box.content + (4 << 10)))
        default: headers.insert(box.length <= Self.smallBox ? box.range : box.start..<box.content)
        }
        position = next
    }

    private func view(of box: Box, in bytes: MediaBytes) -> ByteView {
        ByteView(bytes, part: box.range, whole: limits.wholeTable)
    }

    /// The result as soon as all tracks have their places and the walk has come to the samples.
    private mutating func placed(_ bytes: MediaBytes) throws(Stop) -> ByteRangeSet? {
        guard let movie else { return nil }
        try placeTables(movie, in: bytes)
        if let fragments {
            guard fragments.isDone else { return nil }
            // The header of the `mdat` behind the last `moof`.
            return headers.union(samples).union([position..<position + 16])
        }
        guard movie.tracks.contains(where: { $0.tables.sampleCount > 0 }) else { throw .malformed }
        // Nothing may be shown in these seconds.
        guard let first = samples.bounds?.lowerBound else { return headers }
        // Players read the headers up to the samples. Usually only one is left, and need not be looked at.
        guard first - position > 64 else {
            return headers.union(samples).union(ByteRangeSet(min(first, position)..<first))
        }
        return nil
    }

    /// What there is when the file ends.
    private mutating func finished(_ bytes: MediaBytes) throws(Stop) -> ByteRangeSet? {
        guard let movie else { return nil }
        try placeTables(movie, in: bytes)
        return headers.union(samples)
    }

    /// Finds the samples of the movie's own tables, a track at a time.
    private mutating func placeTables(_ movie: Movie, in bytes: MediaBytes) throws(Stop) {
        while placedTracks < movie.tracks.count {
            let track = movie.tracks[placedTracks]
            var budget = SampleTables.Budget(limits.steps)
            // The tables stand in `moov`, which is behind the walk.
            let view = ByteView(bytes, part: movie.range, whole: limits.wholeTable)
            let lead = try track.tables.lead(view)
            for interval in track.intervals(goal: goal, movieTimescale: movie.timescale, lead: lead) {
                let places = try track.samples(in: interval, view: view, budget: &budget)
                try track.tables.insertPlaces(of: places, into: &samples, in: view, budget: &budget)
                if places.upperBound < track.tables.sampleCount { fragments?.complete(track.id) }
            }
            placedTracks += 1
        }
    }
}

extension Track {
    /// The samples that are needed for an interval in seconds of the media, the sync sample before it included.
    fileprivate func samples(
        in interval: Range<Double>, view: ByteView, budget: inout SampleTables.Budget
    ) throws(Stop) -> Range<Int64> {
        let scale = Double(timescale)
        let end = try tables.sampleCount(before: interval.upperBound * scale, lag: scale, in: view, budget: &budget)
        // Below a second it is the delay of an encoder or of reordered frames, and players begin with the first sample.
        guard interval.lowerBound > 1 else { return 0..<end }
        let start = try tables.syncSample(at: (interval.lowerBound - 1) * scale, in: view, budget: &budget)
        return min(start, end)..<end
    }
}
