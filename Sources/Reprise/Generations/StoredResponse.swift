import HTTPSemantics
import HTTPTypes

/// The response that a generation stores: its record, its freshness, and the play that uses it (RFC 9111 §4).
///
/// Pure: times come in, decisions go out. Its owner holds it under a lock.
struct StoredResponse: Sendable {
    /// The record as the response told it; length and range support may have been learned since.
    private(set) var record: GenerationRecord
    private var derived: Derived
    /// When it was stored or last validated, by the monotonic clock; `nil` if not in this process.
    private var confirmed: Duration?
    /// What the request was for that stored or validated it.
    private var confirmedFor = Demand.playing
    /// When the origin was last asked for a play, even if it did not answer, by the monotonic clock.
    private var asked: Duration?
    private var lastUsed: Duration
    /// Cached until something new is learned, because every hit asks for it.
    private var cachedInformation: ContentInformation?
    private let policy: ReusePolicy

    /// `isConfirmed` says that the response has just arrived, rather than from the index.
    init(_ record: GenerationRecord, policy: ReusePolicy, isConfirmed: Bool, at elapsed: Duration) {
        self.record = record
        self.policy = policy
        confirmed = isConfirmed ? elapsed : nil
        lastUsed = elapsed
        derived = Derived(record, policy: policy)
    }

    /// What follows from the record; derived once, because every hit and every piece needs it.
    private struct Derived: Sendable {
        let freshness: Freshness
        let hasStrongValidator: Bool
        let isMedia: Bool
        let staysInPlay: Bool

        init(_ record: GenerationRecord, policy: ReusePolicy) {
            let (freshness, isMedia) = (record.freshness(policy), record.isMedia)
            (self.freshness, self.isMedia) = (freshness, isMedia)
            hasStrongValidator = record.hasStrongValidator
            let isBound = freshness.hasExplicitLifetime || freshness.forbidsStale || freshness.requiresValidation
            staysInPlay =
                switch record.role {
                // An ended stream may continue before the next play, and a play reads an ended playlist only once.
                case let role? where role.kind == .playlist: false
                // A live segment is played only once, so there is no benefit in ignoring its origin's cache directives.
                case let role? where role.isLive: !isBound
                default: isMedia && !record.mayBeLive
                }
        }
    }

    /// When its head arrived or was last confirmed, by the monotonic clock; `nil` if not in this process.
    var began: Duration? { confirmed }

    /// Whether its validators can prove that a response continues it.
    var hasStrongValidator: Bool { derived.hasStrongValidator }

    /// How long the response may be used without asking the origin.
    private var freshness: Freshness { derived.freshness }

    // MARK: - May it be used?

    /// Whether it was stored or validated in a play that is still going on.
    func isInPlay(at elapsed: Duration) -> Bool {
        guard !policy.isShared, let confirmed, staysInPlay else { return false }
        return elapsed - lastUsed < policy.playWindow && elapsed - confirmed < ReusePolicy.longestPlay
    }

    /// Whether the origin was asked for it in `play`; without one, as ``isInPlay(at:)``.
    ///
    /// What was fetched ahead is part of the play that begins soon after.
    func isInPlay(at elapsed: Duration, of play: Play?) -> Bool {
        guard let play else { return isInPlay(at: elapsed) }
        guard !policy.isShared, staysInPlay else { return false }
        let isOfPlay = [confirmed, asked].contains { moment in
            guard let moment else { return false }
            return moment >= play.began && elapsed - moment < ReusePolicy.longestPlay
        }
        return isOfPlay || isAhead(of: play)
    }

    private func isAhead(of play: Play) -> Bool {
        guard confirmedFor < .playing, let confirmed else { return false }
        return play.began - confirmed < policy.playWindow
    }

    /// Whether a play of it is going on: as ``isInPlay(at:)``, and also during a pause in which readers stay.
    func isPlayed(hasReaders: Bool, at elapsed: Duration) -> Bool {
        guard hasReaders else { return isInPlay(at: elapsed) }
        guard !policy.isShared, let confirmed, staysInPlay else { return false }
        return elapsed - confirmed < ReusePolicy.longestPlay
    }

    /// Whether it is used throughout a play: media.
    private var staysInPlay: Bool { derived.staysInPlay }

    /// Whether it never changes, so that asking would tell nothing new, whatever lifetime the origin gives.
    ///
    /// A segment of a playlist that has ended is such a response, unless its origin wants to be asked each time.
    private var isSettled: Bool {
        guard !policy.isShared, !record.isExpired, let role = record.role else { return false }
        return role.kind == .segment && role.term == .permanent && !freshness.forbidsStale && freshness.lifetime > 0
    }

    /// Whether a request without directives may be answered from it, because it is fresh, media in play, or settled.
    func isUsable(at moment: Moment) -> Bool {
        let isFresh = !record.isExpired && moment.date < freshness.freshUntil.secondsSince1970
        return isFresh || isInPlay(at: moment.elapsed) || isSettled
    }

    /// Whether it may answer a request with these directives in `play` without asking the origin.
    func reuse(for directives: CacheControl, at moment: Moment, in play: Play? = nil) -> Reuse {
        if record.isExpired { return .validate(.stale) }
        return freshness.reuse(
            for: directives, now: HTTPDate(secondsSince1970: moment.date),
            obeysRequest: policy.isShared || !derived.isMedia,
            isConfirmed: isInPlay(at: moment.elapsed, of: play) || isSettled)
    }

    /// Whether the response is fresh by an explicit lifetime, rather than by a heuristic or because it is in play.
    func isFreshByOrigin(at date: Int64) -> Bool {
        !record.isExpired && freshness.hasExplicitLifetime
            && freshness.isFresh(now: HTTPDate(secondsSince1970: date))
    }

    /// Whether the body may be an endless live stream that new readers must no longer join at its first byte.
    func isLiveBody(at elapsed: Duration) -> Bool {
        guard record.role == nil, derived.isMedia, record.isUnverifiable, let confirmed else { return false }
        return elapsed - confirmed >= Self.beginningOfLive
    }

    /// How long new readers of a body of unknown length may still begin at its first byte.
    ///
    /// Readers within this time count as simultaneous.
    private static let beginningOfLive = Duration.seconds(3)

    /// Whether the response is recent enough to answer simultaneous requests although it must be revalidated.
    ///
    /// This collapses requests (RFC 9111 §4).
    func hasJustArrived(at elapsed: Duration) -> Bool {
        guard !record.isExpired, !policy.isShared, derived.isMedia, let confirmed else { return false }
        return elapsed - confirmed < Self.timeOfCollapsing
    }

    private static let timeOfCollapsing = Duration.seconds(1)

    /// Whether it may be served although validating it failed with `error` (RFC 9111 §4.2.4, RFC 5861 §4).
    func mayServeStale(instead error: RepriseError, at moment: Moment) -> Bool {
        if record.isInvalidated { return false }
        let date = HTTPDate(secondsSince1970: moment.date)
        if case .limited(_, let usable?) = record.role?.term, .seconds(freshness.currentAge(now: date)) > usable {
            // An old live playlist would make a player wait for segments that are long gone.
            return false
        }
        switch error.code {
        case .networkUnavailable, .originUnreachable, .originNotFound, .originTimedOut:
            return freshness.mayServeStale(because: .disconnected, now: date)
        case .originRefused where error.refusal.map { [500, 502, 503, 504].contains($0.head.status.code) } == true:
            let isLenient = !policy.isShared && (derived.isMedia || record.role != nil) && !freshness.forbidsStale
            return isLenient || freshness.mayServeStale(because: .error, now: date)
        default: return false
        }
    }

    /// Whether a new response may fill the holes (RFC 9110 §15.3.7.3, or the policy that the caller named).
    func isJoinable(_ policy: GenerationPolicy) -> Bool {
        if policy == .immutable || hasStrongValidator { return true }
        guard policy == .lengthAndDate else { return false }
        return record.identity.validators.lastModified != nil && record.identity.completeLength != nil
    }

    // MARK: - What changes it

    /// A reader uses it: its play goes on.
    mutating func noteUse(at elapsed: Duration) { lastUsed = elapsed }

    /// The origin was asked for a play, which goes on with this response whatever came of that.
    mutating func noteQuestion(at elapsed: Duration) { asked = elapsed }

    /// Notes what the request was for that brought it.
    mutating func noteDemand(_ demand: Demand) { confirmedFor = demand }

    /// Whether a response with these fields may update it for other readers; in a shared cache a response that must not
    /// be stored may not.
    func mayBeChanged(by fields: HTTPFields, storage: StoragePolicy) -> Bool {
        guard policy.isShared else { return true }
        let updated = record.fields.freshened(by: fields, isShared: true)
        return storage.objection(to: CacheControl(updated, isShared: true), vary: Vary(updated)) == nil
    }

    /// Updates the stored fields from a response that confirms them (RFC 9111 §3.2, §4.3.4).
    ///
    /// `url` is where they came from after redirects, if relative links now refer to it; `demand` is what they were
    /// asked for.
    mutating func freshen(
        by fields: HTTPFields, from url: ResourceURL? = nil, requestTime: Int64, at moment: Moment,
        for demand: Demand = .playing
    ) {
        if let url { record.finalURL = url == record.url ? nil : url }
        record.fields = record.fields.freshened(by: fields, isShared: policy.isShared)
        record.requestTime = requestTime
        record.responseTime = moment.date
        confirmed = moment.elapsed
        confirmedFor = demand
        lastUsed = moment.elapsed
        recordChanged()
    }

    /// Marks the body as possibly live, based on its transfer rate.
    mutating func noteLive() {
        record.mayBeLive = true
        recordChanged()
    }

    mutating func note(contentFeatures: String) {
        record.fields[.contentFeatures] = contentFeatures
        recordChanged()
    }

    /// Assigns the role in a stream that a playlist declares; returns false if it is unchanged.
    ///
    /// Invalidates the response if the role shows that it is a different segment with the same name.
    mutating func assign(_ role: StreamRole) -> Bool {
        var role = role
        if role.kind == .playlist, role.run == nil { role.run = (record.role ?? record.formerRole)?.run }
        guard record.role != role || record.formerRole != nil else { return false }
        let former = record.role ?? StreamRole(.segment, for: .media)
        let isOther = former.isOfAnother(than: role, since: record.responseTime)
        (record.role, record.formerRole) = (role, nil)
        if isOther { invalidate() } else { recordChanged() }
        return true
    }

    /// Marks it as stale, so that it is not used without asking the origin (RFC 9111 §4.4).
    mutating func invalidate() {
        record.requestTime = 0
        record.responseTime = 0
        (confirmed, asked) = (nil, nil)
        recordChanged()
    }

    /// Marks the response as stale because a response of the origin contradicts it but can't replace it.
    mutating func expire() {
        record.expire()
        (confirmed, asked) = (nil, nil)
        recordChanged()
    }

    /// Marks it as stale for all plays but the one that is going on.
    mutating func supersede() {
        record.requestTime = 0
        record.responseTime = 0
        recordChanged()
    }

    /// Adds titles to those that it is known as a file of; false if there are none, or all are known.
    ///
    /// One that was loaded has none: the index knows its titles.
    mutating func add(_ claims: [TitleClaim]) -> Bool {
        let new = claims.filter { !record.claims.contains($0) }
        guard !record.claims.isEmpty, !new.isEmpty else { return false }
        let titles = Set(new.map(\.title))
        record.claims = record.claims.filter { !titles.contains($0.title) } + new
        return true
    }

    /// Drops the titles of `keys` from those that it is known as a file of.
    mutating func dropClaims(ofTitles keys: Set<CacheKey>) {
        record.claims.removeAll { keys.contains($0.title.key) }
    }

    private mutating func recordChanged() {
        derived = Derived(record, policy: policy)
        cachedInformation = nil
    }

    // MARK: - With what was learned

    /// The record with the latest length and range support.
    func record(completeLength: Int64?, rangesSupported: Bool?) -> GenerationRecord {
        var record = record
        record.completeLength = completeLength
        record.rangesSupported = rangesSupported
        return record
    }

    /// The metadata with the latest length and range support.
    mutating func information(completeLength: Int64?, rangesSupported: Bool?) -> ContentInformation {
        if let cachedInformation, cachedInformation.completeLength == completeLength,
            cachedInformation.rangesSupported == rangesSupported
        {
            return cachedInformation
        }
        let information = ContentInformation(
            record(completeLength: completeLength, rangesSupported: rangesSupported), freshness: freshness)
        cachedInformation = information
        return information
    }
}
