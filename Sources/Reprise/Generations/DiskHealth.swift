/// What went wrong with one data file, and when its store may be tried again.
///
/// Pure: times come in, decisions go out. One fault costs the bytes that it concerns. A second one means that the disk
/// does not keep what is written, so that nothing more should be written for a while.
struct DiskHealth: Sendable {
    /// When bytes last could not be read; `nil` if that never happened.
    private var lastUnreadable: Duration?
    /// First byte of the sealed chunk that last failed to open.
    private var lastRefusedChunk: Int64?
    /// When the store may be tried again, on the monotonic clock; `nil` for never.
    private var closedUntil: Duration?
    /// Whether it was closed because there was no room.
    private(set) var lacksRoom = false

    /// Bytes could not be read; true if that happened within ``Breaker/pause`` before, too.
    mutating func readFailed(at elapsed: Duration) -> Bool {
        defer { lastUnreadable = elapsed }
        return lastUnreadable.map { elapsed - $0 < Breaker.pause } ?? false
    }

    /// The sealed chunk that begins at `start` failed to open; true if its replacement failed, too.
    mutating func chunkFailed(at start: Int64) -> Bool {
        defer { lastRefusedChunk = start }
        return lastRefusedChunk == start
    }

    /// The store was closed for `pause`; for good if that is `nil`.
    mutating func storeClosed(for pause: Duration?, lackingRoom: Bool = false, at elapsed: Duration) {
        closedUntil = pause.map { elapsed + $0 }
        lacksRoom = lackingRoom
    }

    /// Whether a store that was closed may be tried again.
    func mayTryAgain(at elapsed: Duration) -> Bool { closedUntil.map { elapsed >= $0 } ?? false }
}
