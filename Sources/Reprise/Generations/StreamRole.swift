/// The part that a stored response plays in a stream, as a playlist says.
///
/// Assigned by code that reads playlists, because the engine reads none. It settles what the origin's fields leave
/// open, and is recorded with the response.
package struct StreamRole: Sendable, Hashable {
    /// What the response is.
    package enum Kind: Int, Sendable {
        /// An HLS playlist or an MPD.
        case playlist = 1
        /// A segment, an initialization section, or another file of bytes that a playlist lists.
        case segment = 2
    }

    /// How long the response may be used if the origin does not say.
    package enum Term: Sendable, Hashable {
        /// As other media: in play, then by the usual rules.
        case media
        /// As long as it is stored, because it never changes.
        case permanent
        /// Without asking for `fresh`, and when the origin fails for `usable`, both from its generation; without end if
        /// `usable` is `nil`.
        case limited(fresh: Duration, usable: Duration?)
    }

    /// What the response is.
    package var kind: Kind
    /// How long it may be used.
    package var term: Term
    /// Whether it belongs to a stream that goes on, and so to the share of the store that is evicted first.
    package var isLive: Bool
    /// The Media Sequence Number: of the first segment for a live playlist, or a segment's own if known.
    ///
    /// The number of a live playlist never decreases unless the stream is restarted.
    package var sequence: Int64?
    /// When the current run of the stream began, in seconds since 1970; `nil` if unknown.
    ///
    /// A restarted stream reuses segment names. In HLS, this is when the restart was noticed. In DASH, it is derived
    /// from `availabilityStartTime` and the period.
    package var run: Int64?

    /// Creates a role.
    package init(_ kind: Kind, for term: Term, isLive: Bool = false, sequence: Int64? = nil, run: Int64? = nil) {
        (self.kind, self.term, self.isLive, self.sequence, self.run) = (kind, term, isLive, sequence, run)
    }

    /// A list of playlists: nothing says when it changes, and it may hold tokens, so its origin is asked each time.
    package static let listOfPlaylists = StreamRole(.playlist, for: .limited(fresh: .zero, usable: nil))
    /// A list of segments that has ended.
    package static let endedPlaylist = StreamRole(.playlist, for: .media)
    /// A file of a list that has ended: it never changes.
    package static let endedSegment = StreamRole(.segment, for: .permanent)
    /// A file of a list that goes on.
    package static let liveSegment = StreamRole(.segment, for: .media, isLive: true)

    /// Whether a segment that arrived at `time` in this role differs from the segment of the same name in `role`.
    func isOfAnother(than role: StreamRole, since time: Int64) -> Bool {
        guard kind == .segment, role.kind == .segment else { return false }
        if let began = role.run {
            if let run, run != began { return true }
            if run == nil, time <= began { return true }
        } else if role.isLive, term == .permanent {
            return true
        }
        guard isLive || role.isLive, let sequence, let other = role.sequence else { return false }
        return sequence != other
    }

    /// The role of the response that replaces one in this role, until it is read: that of another live playlist.
    var provisional: StreamRole? { kind == .playlist && isLive ? self : nil }
}

extension StreamRole {
    /// The role as the index records it; names are short, because there is one record per segment.
    struct Recorded: Codable, Sendable {
        /// ``StreamRole/Kind``.
        var k: Int
        /// 1 if ``StreamRole/isLive``.
        var l: Int?
        /// The term: missing for `media`, 1 for `permanent`, 2 for `limited`.
        var t: Int?
        /// Seconds of `fresh` and `usable`.
        var f: Double?
        var u: Double?
        var n: Int64?
        /// ``StreamRole/run``.
        var r: Int64?
    }

    var recorded: Recorded {
        var recorded = Recorded(k: kind.rawValue, l: isLive ? 1 : nil, n: sequence, r: run)
        switch term {
        case .media: break
        case .permanent: recorded.t = 1
        case .limited(let fresh, let usable):
            (recorded.t, recorded.f, recorded.u) = (2, fresh / .seconds(1), usable.map { $0 / .seconds(1) })
        }
        return recorded
    }

    /// `nil` for numbers that no version writes.
    init?(_ recorded: Recorded) {
        guard let kind = Kind(rawValue: recorded.k) else { return nil }
        let term: Term
        switch recorded.t {
        case nil: term = .media
        case 1: term = .permanent
        case 2:
            guard let fresh = Self.duration(recorded.f) else { return nil }
            if let usable = recorded.u {
                guard let usable = Self.duration(usable) else { return nil }
                term = .limited(fresh: fresh, usable: usable)
            } else {
                term = .limited(fresh: fresh, usable: nil)
            }
        default: return nil
        }
        self.init(kind, for: term, isLive: recorded.l == 1, sequence: recorded.n, run: recorded.r)
    }

    /// Longest time that is recorded, in seconds: no computation with it overflows.
    private static let longest: Double = 2_147_483_648

    private static func duration(_ seconds: Double?) -> Duration? {
        guard let seconds, seconds >= 0, seconds <= longest else { return nil }
        return .seconds(seconds)
    }
}
