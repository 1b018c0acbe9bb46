import ByteRanges
import Reprise

extension Model {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The checks of a step; each kind is counted.
    enum Check: String, CaseIterable {
        /// All bytes are of one version that may be visible.
        case bytes
        /// The same, of a version that the origin no longer has.
        case oldBytes
        /// A response that was too old to be used without asking was not used.
        case fresh
        /// Start and end are the requested ones.
        case extent
        /// The error is the one that the model predicts.
        case error
        /// Beyond the end.
        case beyond
        /// The response is passed on unchanged, as expected of this origin.
        case passedThrough
        /// A read to the end cost the missing bytes, and all sent bytes are stored.
        case exactCost
        /// The same if nothing was missing.
        case noCost
        /// Stored bytes are served without error or cost, though the origin would not have served them.
        case storedPlays
        /// A read that was left cost no more than the missing bytes.
        case leftCost
        /// Three readers cost no more than the missing bytes.
        case sharedCost
        /// Bytes that were stored, or that readers received, are stored.
        case kept
        /// A removed path has nothing stored.
        case removed
        /// The cache is idle: no response in progress, no connection open except idle ones.
        case rest
    }

    /// The bytes of a connection that are in the kernels; they count as sent, but no fetch can store them when it is
    /// cut.
    private static let heldByConnection: Int64 = 64 << 10

    /// Judges a step by the model's knowledge before it; returns the checks made.
    static func judge(_ step: Reading) throws -> [Check] {
        var made: [Check] = []
        for (wanted, outcome) in zip(step.wanted, step.outcomes) { made += try judge(outcome, wanted, step) }
        guard step.title.isCurrent else { return made }
        made += try judgeStored(step)
        guard !step.isAhead, !step.outcomes.contains(where: { $0.error != nil || $0.isPassedThrough }) else {
            return made
        }
        made += try judgeCost(step)
        return made
    }

    private static func judge(_ outcome: Outcome, _ wanted: Range<Int64>?, _ step: Reading) throws -> [Check] {
        let title = step.title
        if outcome.isPassedThrough {
            guard title.manner.passesThrough else { throw Failure(description: "\(title.manner): passed through") }
            return [.passedThrough]
        }
        guard !outcome.versions.isEmpty else { throw Failure(description: "wrong bytes in \(outcome.range)") }
        var made: [Check] = outcome.count == 0 ? [] : [.bytes]
        if outcome.count > 0, !outcome.versions.contains(title.face.version) { made.append(.oldBytes) }
        if title.isStale, title.manner.faults.isEmpty, outcome.count > 0, !title.isCurrent, !title.mayLookLikeAnError {
            guard outcome.versions.contains(title.face.version) else {
                throw Failure(description: "bytes of a version that the origin was asked about and no longer has")
            }
            made.append(.fresh)
        }
        if let error = outcome.error {
            guard mayFail(error, wanted, step) else { throw Failure(description: "\(title.manner): \(error)") }
            return made + [wanted == nil && error == .rangeNotSatisfiable ? .beyond : .error]
        }
        guard title.isCurrent else { return made }
        guard let wanted else { throw Failure(description: "no error beyond the end, but \(outcome.range)") }
        if !step.isLeft, outcome.range != wanted {
            throw Failure(description: "\(outcome.range) in place of \(wanted), and no error")
        }
        if title.manner.isExact, outcome.isPastStore { throw Failure(description: "the read bypassed the store") }
        return made + [.extent]
    }

    private static func mayFail(_ error: RepriseError.Code, _ wanted: Range<Int64>?, _ step: Reading) -> Bool {
        let title = step.title
        if title.isCurrent, let wanted, title.face.validator == .strong, title.kept.contains(wanted) { return false }
        if title.manner.faults.contains(error) { return true }
        switch error {
        case .rangeNotSatisfiable: return wanted == nil || !title.isCurrent
        case .validatorChanged:
            // Without a strong validator a second concurrent request begins a new generation.
            return !title.isCurrent || title.face.validator != .strong && step.outcomes.count > 1
        case .originMisbehaved: return title.mayLookLikeAnError
        default: return false
        }
    }

    /// Bytes that were stored still are, and so are those that readers received.
    private static func judgeStored(_ step: Reading) throws -> [Check] {
        guard step.title.face.validator == .strong else { return [] }
        let handedOut = step.outcomes.filter { !$0.isPassedThrough && !$0.isPastStore && $0.count > 0 }.map(\.range)
        let lost = step.title.kept.union(ByteRangeSet(handedOut)).subtracting(step.stored)
        guard lost.isEmpty else { throw Failure(description: "\(step.title.manner): \(lost) is not stored any more") }
        return [.kept]
    }

    private static func judgeCost(_ step: Reading) throws -> [Check] {
        let title = step.title
        guard !step.wanted.contains(nil), title.face.validator == .strong else { return [] }
        let missing = step.missing
        let growth = step.stored.byteCount - title.kept.byteCount
        func demand(_ isRight: Bool) throws {
            guard isRight else {
                throw Failure(
                    description: """
                        \(title.manner): \(step.sent) bytes were sent for \(missing) missing ones, \
                        \(step.twice) of them twice, and \(growth) stored
                        """)
            }
        }
        if missing == 0 {
            // If a validation is answered with a page, the page is sent.
            try demand(title.manner == .page || step.sent == 0)
            return [title.manner.faults.isEmpty ? .noCost : .storedPlays]
        }
        guard title.manner.isExact else { return [] }
        if step.isLeft {
            try demand(step.sent <= missing && step.twice == 0 && step.sent - growth <= heldByConnection)
            return [.leftCost]
        }
        if step.outcomes.count > 1 {
            // A fetch that another one takes over from has more in progress than is wanted of it.
            let overlap = Int64(step.outcomes.count - 1) * heldByConnection
            try demand(step.sent <= missing + overlap && step.sent - growth <= overlap)
            return [.sharedCost]
        }
        try demand(step.sent == missing && step.twice == 0 && growth == step.sent)
        return [.exactCost]
    }
}
