import Foundation
import Primitives
import Reprise

/// What the control of one server needs as long as it runs.
final class Control: Sendable {
    /// When the server began, in seconds since 1970.
    let started: Double
    /// Another text in each server.
    let instance = UUID().uuidString
    /// The servers that it was told of; `nil` if there are none.
    let peers: PeerBoard?
    /// The events of the cache.
    let events = EventFeed()
    private let following = Mutex<Task<Void, Never>?>(nil)

    init(peers: [Peer], clock: CacheClock) {
        started = clock.now()
        self.peers = peers.isEmpty ? nil : PeerBoard(peers, clock: clock)
    }

    /// Follows the events of `cache` from now on.
    func start(_ cache: MediaCache, clock: CacheClock) {
        let events = cache.laterEvents()
        following.withLock { following in
            following = Task { [feed = self.events] in await feed.pass(events, clock: clock) }
        }
    }

    /// Ends what it follows, and every listener.
    func stop() {
        following.withLock { $0 }?.cancel()
        peers?.close()
        events.close()
    }
}
