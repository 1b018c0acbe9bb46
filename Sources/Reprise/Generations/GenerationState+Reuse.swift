import ByteRanges
import HTTPSemantics

/// What a generation may be used for.
extension GenerationState {
    /// The metadata with the schedule's latest length and range support; `policy` decides which responses may be
    /// joined.
    mutating func information(_ policy: GenerationPolicy) -> ContentInformation {
        var information = response.information(
            completeLength: schedule.completeLength, rangesSupported: schedule.rangesSupported)
        information.servesRanges =
            schedule.rangesSupported == true || response.isJoinable(policy) || schedule.isStored(nil)
        return information
    }

    /// Where requests for missing bytes go now; `nil` for the first URL.
    func keptTarget(at moment: Moment) -> KeptTarget.Target? {
        guard isPlayed(at: moment.elapsed) else { return nil }
        return target.usable(at: moment.date)
    }

    func isPlayed(at elapsed: Duration) -> Bool {
        response.isPlayed(hasReaders: !schedule.readers.isEmpty, at: elapsed)
    }

    /// Whether the origin has another representation, and stored bytes are served for the rest of `play`.
    func isSuperseded(at elapsed: Duration, in play: Play? = nil) -> Bool {
        isSuperseded && !isRemoved && response.isInPlay(at: elapsed, of: play)
    }

    /// Whether all of `spec` is served although nothing more is stored.
    func stillServes(_ spec: RangeSpec?, at elapsed: Duration, in play: Play? = nil) -> Bool {
        isSuperseded(at: elapsed, in: play) && schedule.isStored(spec)
    }

    /// The range that `spec` resolves to, if every byte of it is stored, verified and usable at that time.
    ///
    /// `isUsable` allows reuse at any age. `isFinal` also rules out requests to the origin.
    func hit(_ spec: RangeSpec?, isUsable: Bool, isFinal: Bool, at moment: Moment) -> Range<Int64>? {
        guard isFinal || !mustAsk(about: spec, at: moment) else { return nil }
        guard !schedule.isFrozen || stillServes(spec, at: moment.elapsed), let length = schedule.completeLength,
            isUsable || response.isUsable(at: moment),
            let extent = ReadExtent(spec, completeLength: length), let end = extent.end, end > extent.start,
            schedule.verified.contains(extent.start..<end)
        else { return nil }
        return extent.start..<end
    }

    /// Whether a request for `spec` must be forwarded to the origin, unless the origin has declared the response fresh.
    ///
    /// That is the case if the answer depends on the end of a file that may have grown (RFC 9110 §14.4), or if it would
    /// start with old bytes of a live stream.
    func mustAsk(about spec: RangeSpec?, at moment: Moment) -> Bool {
        if response.isFreshByOrigin(at: moment.date) { return false }
        guard let length = schedule.completeLength else {
            return spec.map(\.beginsAtStart) != false && response.isLiveBody(at: moment.elapsed)
                && schedule.comesAsItIsMade
        }
        return spec?.dependsOnEnd(completeLength: length) == true
    }

    /// Whether the initial response is still arriving and started only a moment ago.
    func isArriving(at elapsed: Duration) -> Bool {
        response.hasJustArrived(at: elapsed)
            && schedule.fetches.values.contains { $0.hasResponse && $0.cursor < $0.limit ?? .max }
    }

    /// Whether the first byte of `spec` has to be fetched under a strong validator anyway, which also shows whether the
    /// rest is still current.
    ///
    /// Returns false after a response has contradicted the stored one, because a fetch might fail with 412 forever.
    func beginsInHole(_ spec: RangeSpec?) -> Bool {
        guard response.record.identity.validators.ifRangeValue != nil, !response.record.isExpired,
            schedule.rangesSupported != false, let extent = ReadExtent(spec, completeLength: schedule.completeLength),
            extent.start < schedule.completeLength ?? .max
        else { return false }
        return !schedule.stored.contains(extent.start)
    }
}
