import Primitives

/// How many connections each device has, so that one of them cannot take the places of the others.
final class PeerPlaces: Sendable {
    private let limit: Int
    private let counts = Mutex<[IPv4Address: Int]>([:])

    init(limit: Int) { self.limit = limit }

    /// Takes a place for a connection; false if the device has as many as it may have.
    func take(_ peer: IPv4Address) -> Bool {
        counts.withLock { counts in
            let count = counts[peer, default: 0]
            guard count < limit else { return false }
            counts[peer] = count + 1
            return true
        }
    }

    /// Gives a place back.
    func release(_ peer: IPv4Address) {
        counts.withLock { counts in
            guard let count = counts[peer] else { return }
            counts[peer] = count > 1 ? count - 1 : nil
        }
    }
}
