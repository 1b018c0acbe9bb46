/// The state of one response body between the HTTP client, which delivers pieces, and the consumer, which takes them.
///
/// A pure value: events go in, actions come out. The client guards it with a lock, performs the actions outside it, and
/// decides itself when to read from its connection: from ``queue`` it knows how far the consumer is behind.
///
///     open ──finished(…)──────────────────► ended
///       └──cancel()──► draining ──finished(…)──► ended
///
/// Pieces that have arrived are delivered in every state; the ending comes after the last of them. Times are measured
/// from any fixed moment, by one clock.
package struct BodyMachine<Piece: BodyPiece>: Sendable {
    package enum State: Sendable, Equatable {
        /// The origin is still sending.
        case open
        /// The transfer was canceled; bytes that the system has already received are being collected.
        case draining(byTask: Bool)
        /// Nothing more arrives.
        case ended(BodyEnding)
    }

    /// The consumer's result.
    package enum Delivery: Sendable {
        case piece(Piece)
        case ending(BodyEnding)
        /// Nothing: another call of the consumer is already waiting.
        case busy

        /// What `next()` returns or throws.
        package var result: Result<Piece?, any Error> {
            switch self {
            case .piece(let piece): .success(piece)
            case .ending(.complete), .ending(.canceled(byTask: false)): .success(nil)
            case .ending(let ending): .failure(ending.error)
            case .busy:
                .failure(RepriseError(.invalidArgument, "A body has one consumer: another call of next() waits."))
            }
        }
    }

    /// How to handle a wait that may have become too long.
    package enum IdleCheck: Sendable, Equatable {
        /// The consumer is not waiting; no timer until it does.
        case disarm
        /// The consumer is waiting, but not long enough yet.
        case checkAgain(after: Duration)
        /// Nothing arrived for the whole time.
        case timedOut
    }

    package private(set) var state = State.open
    /// The pieces that the consumer has not taken.
    package private(set) var queue = BodyQueue<Piece>()
    /// Whether a timer watches the consumer's wait.
    package private(set) var isTimed = false
    /// When the consumer began to wait.
    package private(set) var waitingSince: Duration?

    package init() {}

    // MARK: The consumer

    /// Takes a piece for the consumer.
    ///
    /// `nil` means that the consumer must wait: ``wait(now:)`` comes next.
    package mutating func take() -> Delivery? {
        if waitingSince != nil { return .busy }
        if let piece = queue.popFirst() { return .piece(piece) }
        guard case .ended(let ending) = state else { return nil }
        return .ending(ending)
    }

    /// Notes that the consumer waits from `now` on.
    ///
    /// Returns whether a timer must be started.
    package mutating func wait(now: Duration) -> Bool {
        waitingSince = now
        guard state == .open, !isTimed else { return false }
        isTimed = true
        return true
    }

    /// Notes that the consumer canceled.
    ///
    /// Returns whether the client must collect what has arrived, and close the connection.
    package mutating func cancel(byTask: Bool) -> Bool {
        guard state == .open else { return false }
        state = .draining(byTask: byTask)
        return true
    }

    // MARK: The client

    /// Notes pieces that arrived, and takes them out of `pieces`.
    ///
    /// Returns the delivery for a waiting consumer.
    package mutating func received(_ pieces: inout BodyQueue<Piece>) -> Delivery? {
        if case .ended = state {
            pieces.removeAll()
            return nil
        }
        if queue.isEmpty { swap(&queue, &pieces) } else { queue.append(contentsOf: &pieces) }
        return wakingDelivery()
    }

    /// Notes a piece that arrived.
    ///
    /// Returns the delivery for a waiting consumer.
    package mutating func received(_ piece: Piece) -> Delivery? {
        if case .ended = state { return nil }
        queue.append(piece)
        return wakingDelivery()
    }

    private mutating func wakingDelivery() -> Delivery? {
        guard waitingSince != nil, let piece = queue.popFirst() else { return nil }
        waitingSince = nil
        return .piece(piece)
    }

    /// Notes that nothing more arrives.
    ///
    /// Returns the delivery for a waiting consumer.
    package mutating func finished(_ ending: BodyEnding) -> Delivery? {
        switch state {
        case .ended: return nil
        // A consumer that canceled gets the buffered pieces, not the reason why there are no more.
        case .draining(let byTask) where ending != .complete: state = .ended(.canceled(byTask: byTask))
        case .open, .draining: state = .ended(ending)
        }
        guard waitingSince != nil, case .ended(let ending) = state else { return nil }
        waitingSince = nil
        return .ending(ending)
    }

    /// Handles the timer of the consumer's wait.
    package mutating func checkIdle(now: Duration, timeout: Duration) -> IdleCheck {
        guard state == .open, let waitingSince else {
            isTimed = false
            return .disarm
        }
        let rest = timeout - (now - waitingSince)
        return rest > .zero ? .checkAgain(after: rest) : .timedOut
    }
}

extension BodyMachine.Delivery: Equatable where Piece: Equatable {}

/// Why nothing more of a body arrives.
package enum BodyEnding: Sendable {
    /// The body is complete.
    case complete
    /// The consumer canceled; `byTask` if its task was canceled.
    case canceled(byTask: Bool)
    /// The connection, the origin or the client failed.
    case failed(RepriseError)

    /// What a consumer gets that waits for more than the end.
    package var error: any Error { if case .failed(let error) = self { error } else { CancellationError() } }
}

extension BodyEnding: Equatable {
    /// Failures are equal if their codes are.
    package static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.complete, .complete): true
        case (.canceled(let left), .canceled(let right)): left == right
        case (.failed(let left), .failed(let right)): left.code == right.code
        default: false
        }
    }
}

/// Bytes of a response body in the form in which an HTTP client receives them.
package protocol BodyPiece: Sendable {
    /// Number of bytes.
    var byteCount: Int { get }
    /// The same bytes in memory of their own, with room for `capacity` bytes in all.
    func copied(capacity: Int) -> Self
    /// Adds the bytes of `other`.
    mutating func append(_ other: Self)
    /// Removes the first `count` bytes and returns them, without copying.
    mutating func removeFirst(_ count: Int) -> Self
}

/// Pieces of a body in order, with their total size; none is larger than 1 MiB.
///
/// Pieces are kept as received, without copying, except small neighbors, which are joined: an origin that sends chunks
/// of one byte would otherwise cost far more memory than its bytes.
package struct BodyQueue<Piece: BodyPiece>: Sendable {
    /// Pieces below this size are joined; above it a copy costs more than a place in the queue.
    package static var smallPiece: Int { 4_096 }
    /// Joined pieces stay below this size.
    package static var joinedPiece: Int { 65_536 }
    /// Maximum size of one piece.
    package static var largestPiece: Int { 1 << 20 }

    /// The pieces, with `nil` for those that were taken.
    private var pieces: [Piece?] = []
    /// Index of the first piece not yet taken; taken ones are removed when they make up half of the array.
    private var first = 0
    /// Total size of all pieces, in bytes.
    package private(set) var byteCount = 0
    /// Whether the last piece is in memory of our own, to which small pieces may be added.
    private var endsInOwnMemory = false

    /// An empty queue.
    package init() {}

    package var isEmpty: Bool { first == pieces.count }
    package var count: Int { pieces.count - first }

    /// Appends `piece`: split if it is too large, joined with the last one if both are small.
    package mutating func append(_ piece: Piece) {
        guard piece.byteCount > 0 else { return }
        byteCount += piece.byteCount
        if joins(piece) { return }
        var rest = piece
        while rest.byteCount > Self.largestPiece { pieces.append(rest.removeFirst(Self.largestPiece)) }
        pieces.append(rest)
        endsInOwnMemory = false
    }

    /// Moves all pieces of `other` to the end of this queue.
    package mutating func append(contentsOf other: inout BodyQueue) {
        while let piece = other.popFirst() { append(piece) }
    }

    /// Removes and returns the first piece; `nil` if there is none.
    package mutating func popFirst() -> Piece? {
        guard first < pieces.count, let piece = pieces[first] else { return nil }
        pieces[first] = nil  // releases the bytes
        first += 1
        byteCount -= piece.byteCount
        if first == pieces.count { endsInOwnMemory = false }
        if first > pieces.count / 2 {
            pieces.removeFirst(first)
            first = 0
        }
        return piece
    }

    package mutating func removeAll() { self = BodyQueue() }

    /// Adds `piece` to the last one if both are small; returns whether it did.
    ///
    /// Removes the last piece while it grows, so that its memory is unique and is not copied.
    private mutating func joins(_ piece: Piece) -> Bool {
        guard piece.byteCount < Self.smallPiece, !isEmpty, let last = pieces.last ?? nil,
            last.byteCount + piece.byteCount <= Self.joinedPiece,
            endsInOwnMemory || last.byteCount < Self.smallPiece
        else { return false }
        pieces.removeLast()
        pieces.append(Self.joined(last, with: piece, inPlace: endsInOwnMemory))
        endsInOwnMemory = true
        return true
    }

    private static func joined(_ last: consuming Piece, with piece: Piece, inPlace: Bool) -> Piece {
        var joined = inPlace ? last : last.copied(capacity: 2 * smallPiece)
        joined.append(piece)
        return joined
    }
}
