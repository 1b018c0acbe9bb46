import Primitives
import Reprise

/// Plays the clips of a feed as a player does: it begins with a second of media, reads ten seconds ahead, and waits for
/// another second when it runs out. Its clock runs ``pace`` times as fast as the world's.
struct FeedPlayer {
    /// What one clip was like.
    struct Outcome {
        /// From the swipe to the first picture, in seconds of media.
        var start = 0.0
        /// Whether the bytes of the first second were on disk.
        var wasStored = false
        /// Time without a picture after the start, in seconds of media.
        var waited = 0.0
    }

    /// Seconds of media that a second of the world stands for.
    static let pace = 10.0
    private static let startup = 1.0
    private static let ahead = 10.0
    /// How often the player looks, in seconds of media.
    private static let tick = 0.02

    let resource: MediaResource
    let clip: Clip

    private struct State {
        var received: Int64 = 0
        /// Received while the origin had sent nothing for this play.
        var stored: Int64 = 0
        var isOver = false
    }

    func play() async throws -> Outcome {
        let state = Mutex(State())
        let position = Mutex(0.0)
        let reading = Task { [clip, resource] in
            defer { state.withLock { $0.isOver = true } }
            let read = try await resource.read()
            while let piece = try await read.next() {
                let isStored = read.servedBytes(from: .origin) + read.servedBytes(from: .joined) == 0
                let received = state.withLock { state in
                    state.received += Int64(piece.count)
                    if isStored { state.stored = state.received }
                    return state.received
                }
                while received > clip.end(of: position.withLock { $0 } + Self.ahead) {
                    try await Self.pause()
                }
            }
        }
        defer { reading.cancel() }
        var outcome = Outcome()
        let began = ContinuousClock.now
        try await wait(for: Self.startup, state)
        outcome.start = Self.seconds(since: began)
        outcome.wasStored = state.withLock { $0.stored } >= clip.end(of: Self.startup)
        var last = ContinuousClock.now
        while position.withLock({ $0 }) < clip.watched {
            try await Self.pause()
            let now = Self.seconds(since: last)
            last = .now
            let place = position.withLock { position in
                position += now
                return position
            }
            guard place < clip.watched, state.withLock({ $0.received }) < clip.end(of: place) else { continue }
            try await wait(for: place + Self.startup, state)
            outcome.waited += Self.seconds(since: last)
            last = .now
        }
        return outcome
    }

    /// Returns when the media up to `place` are there.
    private func wait(for place: Double, _ state: Mutex<State>) async throws {
        while !state.withLock({ $0.isOver || $0.received >= clip.end(of: place) }) { try await Self.pause() }
    }

    private static func pause() async throws { try await Task.sleep(for: .seconds(tick / pace)) }

    private static func seconds(since start: ContinuousClock.Instant) -> Double {
        (ContinuousClock.now - start) / .seconds(1) * pace
    }
}
