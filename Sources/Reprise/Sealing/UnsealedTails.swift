import Primitives

/// The last bytes of each running fetch of an encrypted cache, up to 64 KiB: readers see them at once, the disk only
/// complete and sealed.
///
/// The lock is a leaf.
final class UnsealedTails: Sendable {
    struct Tail: Sendable {
        var start: Int64
        var bytes: [UInt8] = []

        var end: Int64 { start + Int64(bytes.count) }
    }

    private let tails = Mutex<[FetchSchedule.FetchID: Tail]>([:])

    subscript(_ fetch: FetchSchedule.FetchID) -> Tail? { tails.withLock { $0[fetch] } }

    func set(_ tail: Tail?, for fetch: FetchSchedule.FetchID) { tails.withLock { $0[fetch] = tail } }

    /// Bytes of the tail that contains `position`, from there up to `end`.
    func bytes(from position: Int64, to end: Int64) -> ArraySlice<UInt8>? {
        tails.withLock { tails in
            guard let tail = tails.values.first(where: { $0.start <= position && position < $0.end }) else {
                return nil
            }
            return tail.bytes[Int(position - tail.start)..<Int(min(end, tail.end) - tail.start)]
        }
    }
}
