import Playlists
import Reprise

/// The parts with which a stream starts to play: initialization sections, keys and segments of each track.
struct StreamBeginning {
    private struct Entry {
        /// When it is needed, in seconds from where playback begins.
        let time: Double
        let part: StreamPart
    }

    private let amount: PreloadAmount
    private var entries: [Entry] = []
    private var known: Set<StreamPart> = []

    init(_ amount: PreloadAmount) { self.amount = amount }

    /// The parts in the order in which they are needed; of those that are needed together, the first track's first.
    var parts: [StreamPart] {
        entries.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
            .map(\.element.part)
    }

    // MARK: - HLS

    /// Adds a media playlist that came from `base`; `bandwidth` is that of its variant, in bits per second.
    ///
    /// Throws ``RepriseError`` with code `notDownloadable` if it is live or protected.
    mutating func add(_ list: HLSPlaylist, at base: URIReference, bandwidth: Int64?) throws(RepriseError) {
        guard list.kind == .media else { throw PlaylistPlanner.namesNoMediaPlaylist }
        guard !list.media.isLive else { throw PlaylistPlanner.isLiveBeginning }
        var budget = BeginningBudget(amount)
        var (end, time) = (0.0, 0.0)
        let (start, length) = (list.playbackStart, list.media.duration)
        for segment in list.media.segments where !budget.isSpent {
            end += segment.duration
            // Where playback begins at the very end, the last segment plays.
            guard end > start || end >= length else { continue }
            let skipped = max(0, segment.duration - (end - start))
            guard !segment.isGap else {
                budget.pass(segment.duration - skipped)
                continue
            }
            try add(segment, of: list, at: base, time: time)
            let bitRate = segment.bitrate.map { min($0, 1 << 40) * 1000 } ?? bandwidth
            budget.take(
                list.links[segment.link].extent, duration: segment.duration, skipped: skipped, bitRate: bitRate)
            time += segment.duration - skipped
        }
    }

    /// Adds a segment, and before it the keys and the initialization section that it needs.
    private mutating func add(
        _ segment: Segment, of list: HLSPlaylist, at base: URIReference, time: Double
    ) throws(RepriseError) {
        let map = segment.map.map { list.media.maps[$0] }
        for keySet in Set([segment.keySet] + (map.map { [$0.keySet] } ?? [])).sorted() {
            for target in try list.fetchableKeys(in: keySet, base: base) {
                insert(target, isKey: true, extent: .whole, time: time)
            }
        }
        for link in [map?.link, segment.link].compactMap({ $0 }).map({ list.links[$0] }) {
            guard let target = try list.target(of: link, base: base).mediaFile else { continue }
            insert(target, extent: StreamPart.Extent(link.extent), time: time)
        }
    }

    // MARK: - DASH

    /// Adds the representations at `paths` of an MPD that came from `base`.
    ///
    /// Throws ``RepriseError`` with code `notDownloadable`, and ``PlaylistError``.
    mutating func add(_ mpd: MPD, paths: [MPD.Path], at base: URIReference) throws {
        let starts = mpd.periods.indices.reduce(into: [0.0]) { starts, period in
            starts.append((starts.last ?? 0) + (mpd.duration(ofPeriod: period) ?? 0))
        }
        // A representation of a later period goes on with what the one of its kind before it has left.
        for path in paths where isNeeded(periodAt: starts[path.period], number: path.period) {
            var budget = BeginningBudget(amount)
            budget.pass(starts[path.period])
            try add(path, of: mpd, at: base, from: starts[path.period], within: &budget)
        }
    }

    private func isNeeded(periodAt start: Double, number: Int) -> Bool {
        switch amount {
        case .all: true
        case .seconds(let goal): number == 0 || start < goal
        case .bytes, .segments, .range: number == 0
        }
    }

    private mutating func add(
        _ path: MPD.Path, of mpd: MPD, at base: URIReference, from start: Double, within budget: inout BeginningBudget
    ) throws {
        let representation = mpd.periods[path.period].adaptationSets[path.adaptationSet]
            .representations[path.representation]
        let segments = try mpd.segments(of: path, base: base)
        let isOneFile = mpd.segmentInformation(of: path).map { $0.kind == .base } ?? true
        if isOneFile, let file = segments.first, let target = try file.target.mediaFile {
            return insert(target, extent: extentOfFile(budget), time: start)
        }
        if let initialization = mpd.initialization(of: path, base: base),
            let target = try initialization.target.mediaFile
        {
            insert(target, extent: StreamPart.Extent(initialization.extent), time: start)
        }
        for segment in segments where !budget.isSpent {
            guard let target = try segment.target.mediaFile else { continue }
            insert(target, extent: StreamPart.Extent(segment.extent), time: start + segment.start)
            budget.take(segment.extent, duration: segment.duration ?? 0, bitRate: representation.bandwidth)
        }
    }

    private func extentOfFile(_ budget: BeginningBudget) -> StreamPart.Extent {
        if case .bytes(let count) = amount { return .range(0..<count) }
        return budget.rest.map { .seconds($0) } ?? .whole
    }

    // MARK: - Parts

    private mutating func insert(
        _ target: URIReference, isKey: Bool = false, extent: StreamPart.Extent, time: Double
    ) {
        guard let file = target.streamFile(isKey: isKey) else { return }
        let part = StreamPart(file: file, extent: extent)
        if known.insert(part).inserted { entries.append(Entry(time: time, part: part)) }
    }
}

extension StreamPart.Extent {
    fileprivate init(_ extent: ByteExtent) {
        switch extent {
        case .range(let range): self = .range(range)
        case .whole, .from, .unplaced: self = .whole
        }
    }
}

extension HLSPlaylist {
    /// Where players begin, in seconds (rfc8216bis §4.4.2.2): from the end if the playlist says so.
    fileprivate var playbackStart: Double {
        guard let offset = start?.offset else { return 0 }
        let length = media.duration
        return min(max(0, offset < 0 ? length + offset : offset), length)
    }
}

/// Counts the segments of one track that a preload takes, in playback order.
struct BeginningBudget {
    private let amount: PreloadAmount
    private var seconds = 0.0
    private var bytes: Int64 = 0
    private var segments = 0

    init(_ amount: PreloadAmount) { self.amount = amount }

    /// Whether no further segment is needed.
    var isSpent: Bool {
        switch amount {
        case .bytes(let count): bytes >= count
        case .seconds(let goal): seconds >= goal
        case .segments(let count): segments >= count
        case .range, .all: false
        }
    }

    /// The seconds left for a file without segments; `nil` if the whole file is wanted.
    var rest: Double? {
        switch amount {
        case .seconds(let goal): goal - seconds
        case .segments(let count): Double(count - segments) * PreloadAmount.secondsPerSegment
        case .bytes, .range, .all: nil
        }
    }

    /// Takes a segment of `duration` seconds, of which the first `skipped` do not play; `bitRate` is in bits per
    /// second.
    ///
    /// A segment of unknown length is enough for any number of bytes.
    mutating func take(_ extent: ByteExtent, duration: Double, skipped: Double = 0, bitRate: Int64?) {
        segments += 1
        seconds += max(0, duration - skipped)
        let count: Int64?
        switch extent {
        case .range(let range): count = range.upperBound - range.lowerBound
        case .unplaced(let length): count = length
        case .whole, .from: count = bitRate.map { Int64(min(Double($0) / 8 * max(0, duration), 1e15)) }
        }
        bytes = count.map { bytes + min($0, 1 << 52) } ?? .max
    }

    /// Counts seconds for which nothing is fetched, such as those of a segment that its origin does not have.
    mutating func pass(_ duration: Double) { seconds += max(0, duration) }
}
