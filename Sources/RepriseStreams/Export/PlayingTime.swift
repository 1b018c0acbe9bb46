import Playlists

/// How long a stream plays, as its playlists say.
package struct PlayingTime: Sendable, Equatable {
    /// In seconds, of the shortest track of sound or picture.
    package private(set) var seconds: Double
    /// The longest segment, in seconds, and what rounded durations may be off.
    package private(set) var tolerance: Double

    /// The time of segments that follow each other; `nil` if the duration of one is not known.
    ///
    /// `isRounded` says that their durations are whole seconds.
    init?(segments durations: [Double?], isRounded: Bool = false) {
        let known = durations.compactMap { $0 }
        guard !known.isEmpty, known.count == durations.count else { return nil }
        seconds = known.reduce(0, +)
        tolerance = (known.max() ?? 0) + (isRounded ? Double(known.count) / 2 : 0)
    }

    /// The time of segments whose durations are added up.
    init(_ times: SegmentTimes) { (seconds, tolerance) = (times.total, times.longest) }

    /// The time of tracks that play at the same time; `nil` for none.
    init?(tracks: [PlayingTime]) {
        guard let shortest = tracks.map(\.seconds).min() else { return nil }
        seconds = shortest
        tolerance = tracks.map(\.tolerance).max() ?? 0
    }

    /// The time of periods that follow each other; `nil` if that of one is not known.
    init?(periods: [PlayingTime?]) {
        let known = periods.compactMap { $0 }
        guard !known.isEmpty, known.count == periods.count else { return nil }
        seconds = known.reduce(0) { $0 + $1.seconds }
        tolerance = known.map(\.tolerance).max() ?? 0
    }

    /// What playlists may overstate: many say 10 s of segments that have 9.6.
    private static let overstatement = 0.05

    /// Whether a file that plays for `duration` seconds lacks more than a segment, and what playlists overstate.
    package func isMissed(by duration: Double) -> Bool {
        duration < seconds * (1 - Self.overstatement) - tolerance
    }
}

extension PlayingTime {
    /// The time of a media playlist of HLS, without gaps.
    init?(of list: HLSPlaylist) {
        // Before version 3, durations are rounded (rfc8216bis §8).
        self.init(
            segments: list.media.segments.filter { !$0.isGap }.map { $0.duration > 0 ? $0.duration : nil },
            isRounded: list.version < 3)
    }

    /// The time of an MPD; `nil` if it does not say that of each period.
    init?(of mpd: MPD) {
        self.init(periods: mpd.periods.indices.map { mpd.playingTime(ofPeriod: $0) })
    }

    /// At most `seconds`, as for a period that ends before its last segment does.
    fileprivate func limited(to seconds: Double?) -> PlayingTime {
        var result = self
        result.seconds = min(self.seconds, seconds ?? self.seconds)
        return result
    }
}

extension MPD {
    /// The time of the picture and the sound of a period; subtitles may end long before.
    fileprivate func playingTime(ofPeriod period: Int) -> PlayingTime? {
        var tracks: [PlayingTime] = []
        for (number, set) in periods[period].adaptationSets.enumerated() where TrackKind(of: set) != .subtitles {
            for index in set.representations.indices {
                let path = Path(period: period, adaptationSet: number, representation: index)
                let segments = try? segments(of: path, base: URIReference(""))
                if let times = segments?.times { tracks.append(PlayingTime(times)) }
            }
        }
        return PlayingTime(tracks: tracks)?.limited(to: duration(ofPeriod: period))
    }
}
