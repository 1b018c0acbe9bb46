import Primitives
import Playlists
import Reprise

/// What served low-latency playlists name that is not complete yet: parts, and what their hints promise (rfc8216bis
/// §4.4.4.9, §4.4.5.3).
///
/// In memory only, for six target durations after a playlist last named it. The lock is a leaf.
final class LiveEdge: Sendable {
    fileprivate struct Mention {
        let targetDuration: Duration
        let isHint: Bool
        let time: Duration
    }

    fileprivate struct State {
        var mentions: [ResourceURL: Mention] = [:]
        var targetDurations: [ResourceURL: Mention] = [:]
        /// URLs in the order in which they were mentioned, some several times.
        var order: [(url: ResourceURL, time: Duration, byteCount: Int)] = []
        var byteCount = 0
    }

    /// A part, or what a hint names.
    struct Place: Equatable, Sendable {
        /// Target duration of its playlist.
        let targetDuration: Duration
        /// Whether the origin may hold a request for it, because it may not exist yet.
        let isHint: Bool
    }

    /// Number of target durations for which a mention counts.
    private static let lifetime = 6
    /// Longest target duration taken from a playlist.
    private static let longestTarget = Duration.seconds(60)
    fileprivate static let longestLifetime = longestTarget * lifetime

    private let clock: CacheClock
    /// Maximum size of all URLs, in bytes.
    private let maximumBytes: Int
    private let state = Mutex(State())

    init(clock: CacheClock, maximumBytes: Int = 4 << 20) {
        self.clock = clock
        self.maximumBytes = maximumBytes
    }

    /// The place of `url` at the live edge; `nil` if no playlist names it there.
    func place(of url: ResourceURL) -> Place? {
        let now = clock.elapsed()
        return state.withLock { state in
            guard let mention = state.mentions[url], Self.counts(mention, at: now) else { return nil }
            return Place(targetDuration: mention.targetDuration, isHint: mention.isHint)
        }
    }

    /// The target duration of the playlist at `url`, whatever its delivery directives.
    func targetDuration(of url: ResourceURL) -> Duration? {
        let (now, url) = (clock.elapsed(), url.withoutDirectives)
        return state.withLock { state in
            state.targetDurations[url].flatMap { Self.counts($0, at: now) ? $0.targetDuration : nil }
        }
    }

    /// Remembers the parts and hints of `list`, which was requested as `url` and came from `base`.
    func note(_ list: HLSPlaylist, of url: ResourceURL, from base: URIReference) {
        let media = list.media
        func target(_ link: Int) -> ResourceURL? {
            guard list.links.indices.contains(link),
                case .fetchable(let target) = list.target(of: list.links[link], base: base)
            else { return nil }
            return try? ResourceURL(target.text)
        }
        // Once its segment is listed, a resource is complete.
        let complete = Set(media.segments.suffix(Self.segmentsWithParts).compactMap { target($0.link) })
        state.withLock { state in
            guard !state.mentions.isEmpty else { return }
            for url in complete { state.mentions[url] = nil }
        }
        guard media.hasLowLatency, let seconds = media.targetDuration, seconds > 0 else { return }
        let targetDuration = min(Self.longestTarget, .seconds(min(seconds, 1e6)))
        let now = clock.elapsed()
        let parts = Set(media.parts.filter { !$0.isGap }.compactMap { target($0.link) }).subtracting(complete)
        let hints = Set(media.preloadHints.compactMap { target($0.link) }).subtracting(complete)
        state.withLock { state in
            let mention = Mention(targetDuration: targetDuration, isHint: false, time: now)
            state.targetDurations[url.withoutDirectives] = mention
            state.remember(url.withoutDirectives, at: now)
            for url in parts.subtracting(hints) {
                state.mentions[url] = mention
                state.remember(url, at: now)
            }
            for url in hints {
                state.mentions[url] = Mention(targetDuration: targetDuration, isHint: true, time: now)
                state.remember(url, at: now)
            }
            state.prune(at: now, maximumBytes: maximumBytes)
        }
    }

    /// Number of segments at the end of a list that may still have parts: those of the last three target durations
    /// (rfc8216bis §4.4.4.9), and then some.
    private static let segmentsWithParts = 100

    private static func counts(_ mention: Mention, at now: Duration) -> Bool {
        now - mention.time < mention.targetDuration * lifetime
    }
}

extension LiveEdge.State {
    fileprivate mutating func remember(_ url: ResourceURL, at time: Duration) {
        let byteCount = url.target.utf8.count + 128
        order.append((url, time, byteCount))
        self.byteCount += byteCount
    }

    /// Forgets what is old, and the oldest while there is too much.
    fileprivate mutating func prune(at now: Duration, maximumBytes: Int) {
        let oldest = now - LiveEdge.longestLifetime
        var count = 0
        for entry in order {
            guard entry.time <= oldest || byteCount > maximumBytes else { break }
            byteCount -= entry.byteCount
            count += 1
            if mentions[entry.url]?.time == entry.time { mentions[entry.url] = nil }
            if targetDurations[entry.url]?.time == entry.time { targetDurations[entry.url] = nil }
        }
        order.removeFirst(count)
    }
}
