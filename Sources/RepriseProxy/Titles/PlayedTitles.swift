import NIOCore
import Reprise

/// Titles that clients read through the connections of one event loop.
///
/// A player that has read ahead is silent for a while. A title therefore counts as playing until half a minute after
/// its last request or byte.
struct PlayedTitles {
    /// How long a title counts as playing.
    private static let lasting = Duration.seconds(30)
    /// How rarely the same file of the same connection is noted again.
    private static let interval = Duration.seconds(2)
    /// Most titles, and most players of one, that are noted.
    private static let most = 256

    /// Who plays a title, and until when it counts.
    struct Play: Sendable {
        let title: TitleReference
        /// Hashes of clients' addresses and names, with the time at which each was seen last.
        fileprivate(set) var players: [Int: Duration]
    }

    private var plays: [CacheKey: Play] = [:]

    /// Notes that `player` gets bytes of `known`.
    mutating func note(_ known: KnownResource, by player: Int, at now: Duration) {
        if let noted = known.playedAt, now - noted < Self.interval { return }
        known.playedAt = now
        let title =
            known.resource.titles.first ?? TitleReference(key: known.key, url: known.resource.url)
        if plays[title.key] == nil {
            if plays.count >= Self.most { plays = current(at: now) }
            guard plays.count < Self.most else { return }
            plays[title.key] = Play(title: title, players: [:])
        }
        guard plays[title.key]?.players.count ?? 0 < Self.most else { return }
        plays[title.key]?.players[player] = now
    }

    /// What plays now.
    func current(at now: Duration) -> [CacheKey: Play] {
        plays.compactMapValues { play in
            var play = play
            play.players = play.players.filter { now - $0.value < Self.lasting }
            return play.players.isEmpty ? nil : play
        }
    }
}

extension ProxyService {
    /// The titles that clients play now, and the number of players of each; the most played first.
    func playedTitles() async -> [(title: TitleReference, players: Int)] {
        var plays: [CacheKey: PlayedTitles.Play] = [:]
        for watch in watches {
            // A loop that has ended has no connections.
            let more = try? await watch.eventLoop.submit { watch.value.playedTitles }.get()
            plays.merge(more ?? [:]) { one, other in
                PlayedTitles.Play(title: one.title, players: one.players.merging(other.players) { max($0, $1) })
            }
        }
        return plays.values.map { ($0.title, $0.players.count) }
            .sorted { ($1.players, $0.title.key.text) < ($0.players, $1.title.key.text) }
    }
}
