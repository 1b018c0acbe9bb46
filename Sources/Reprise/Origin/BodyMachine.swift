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
