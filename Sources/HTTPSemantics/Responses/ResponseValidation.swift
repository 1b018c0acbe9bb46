public import HTTPTypes

/// Decides what a response means for the stored generation of the resource.
///
/// A pure function: the same arguments give the same action. It looks at the head only; the caller checks that the body
/// is as long as declared. Follow redirects first: a 3xx that arrives here is final.
///
/// - Parameters:
///   - request: The request that was sent.
///   - generation: The stored generation, or `nil` if there is none.
///   - policy: When bytes of different responses may be joined.
///   - response: Status and fields as received.
///   - finalHost: Host that answered, after redirects; `nil` leaves it unchecked.
///   - storage: Which restrictions on storing are honored.
/// - Returns: The action; ``ResponseAction/fill(_:)`` only where the body belongs to `generation`.
public func validate(
    _ request: FetchRequest, against generation: GenerationIdentity?, policy: GenerationPolicy,
    response: HTTPResponse, finalHost: String? = nil, storage: StoragePolicy = StoragePolicy()
) -> ResponseAction {
    let validation = ResponseValidation(
        request: request, generation: generation, policy: policy, response: response, finalHost: finalHost,
        storage: storage)
    switch response.status.code {
    case 200: return validation.ok()
    case 206: return validation.partialContent()
    case 304: return validation.notModified()
    case 412: return generation == nil ? .refusal : .generationChanged(.preconditionFailed)
    case 416: return validation.rangeNotSatisfiable()
    case 200..<300: return .passThrough(.unexpectedStatus)
    // A status beyond the five classes is treated as an error of the origin (RFC 9110 §15).
    case 300..<1000: return .refusal
    default: return .reject(.invalidStatus)
    }
}

/// The properties of a request to the origin that matter for judging its response.
public struct FetchRequest: Sendable, Hashable {
    /// The range as sent, or `nil` if the whole representation was requested.
    public var range: RangeSpec?
    /// Whether the request carried If-Range.
    public var sentIfRange: Bool
    /// Whether the request carried If-None-Match or If-Modified-Since.
    public var sentCondition: Bool
    /// Whether only audio or video makes sense as an answer, so that an HTML page doesn't.
    public var expectsMedia: Bool
    /// Whether audio or video may have no bytes: a playlist names it, and nothing of it is stored.
    public var mayBeEmpty: Bool
    /// Whether the resource is known to be a file rather than a live stream: a playlist, a file listed in one, or a
    /// download.
    public var isForFile: Bool

    /// Creates a request; by default one for the whole representation, without conditions.
    public init(
        range: RangeSpec? = nil, sentIfRange: Bool = false, sentCondition: Bool = false, expectsMedia: Bool = false,
        mayBeEmpty: Bool = false, isForFile: Bool = false
    ) {
        self.range = range
        self.sentIfRange = sentIfRange
        self.sentCondition = sentCondition
        self.expectsMedia = expectsMedia
        self.mayBeEmpty = mayBeEmpty
        self.isForFile = isForFile
    }
}

/// The validation of one response, with a method per status code that needs more than a line.
struct ResponseValidation {
    let request: FetchRequest
    let generation: GenerationIdentity?
    let policy: GenerationPolicy
    let response: HTTPResponse
    let finalHost: String?
    let storage: StoragePolicy

    private var fields: HTTPFields { response.headerFields }

    /// 200: the whole representation, whatever was requested (RFC 9110 §15.3.1).
    func ok() -> ResponseAction {
        let length: Int64?
        switch ResponseFraming(fields) {
        case .declared(let declared): length = declared
        case .open: length = nil
        case .invalid: return .reject(.contentLength)
        }
        let change = change(completeLength: length, confirmed: false)
        if change == nil, isIfRangeMisunderstood(completeLength: length) { return .retryWithoutIfRange }
        if isPartByItsContentRange(length: length) { return .passThrough(.contradictoryRange) }
        // Check this before the storage rules, because a short error may also forbid storing.
        if length == 0, isOfMedia, !isEmptyFile { return .passThrough(.emptyBody) }
        if change != nil, replacesByLess(length: length) { return .passThrough(.unexpectedNotice) }
        if let reason = passThroughReason(continues: change == nil) { return .passThrough(reason) }
        if isLive(length: length) { return .passThrough(.live) }
        var placement = BodyPlacement(
            start: 0, end: length, completeLength: length,
            rangesSupported: isPartRefused(completeLength: length) ? false : nil)
        if let change { return .newGeneration(placement, change) }
        placement.completeLength = length ?? generation?.completeLength
        return .fill(placement)
    }

    /// 206: the part named by Content-Range (RFC 9110 §15.3.7).
    func partialContent() -> ResponseAction {
        guard let asked = request.range else { return .reject(.unrequestedPartialContent) }
        if MediaType(fields[.contentType])?.isMultipartByteRanges == true { return .reject(.multipart) }
        guard let value = fields[.contentRange],
            case .satisfied(let range, let declaredLength) = ContentRange(value)
        else { return .reject(.invalidContentRange) }
        switch ResponseFraming(fields) {
        case .declared(let length) where length != range.upperBound - range.lowerBound: return .reject(.contentLength)
        case .invalid: return .reject(.contentLength)
        default: break
        }
        var change = change(completeLength: declaredLength, confirmed: request.sentIfRange)
        if let known = generation?.completeLength, range.upperBound > known { change = .lengthChanged }
        let length = declaredLength ?? (change == nil ? generation?.completeLength : nil)
        // Clients of a shared cache can judge a part by its Content-Range; a player would fail on another part than it
        // asked for.
        guard
            isPlaced(range, asAskedBy: asked, completeLength: length, continues: change == nil)
                || storage.isShared && generation == nil
        else { return .reject(.wrongStart) }
        if let reason = passThroughReason(continues: change == nil) { return .passThrough(reason) }
        let placement = BodyPlacement(
            start: range.lowerBound, end: range.upperBound, completeLength: length, rangesSupported: true)
        return change.map { .newGeneration(placement, $0) } ?? .fill(placement)
    }

    /// 304: valid only as an answer to a condition, and only about the state named by the condition (RFC 9111 §4.3.4).
    func notModified() -> ResponseAction {
        guard request.sentCondition else {
            // Some servers treat If-Range like If-None-Match.
            return request.sentIfRange ? .retryWithoutIfRange : .reject(.unrequestedNotModified)
        }
        guard let generation else { return .refusal }
        return generation.contradicts(Validators(fields)) ? .generationChanged(.validatorChanged) : .notModified
    }

    /// 416: `*/N` states the current length (RFC 9110 §15.5.17).
    func rangeNotSatisfiable() -> ResponseAction {
        guard let asked = request.range else { return .refusal }
        if let generation, generation.contradicts(Validators(etag: Validators(fields).etag)), policy != .immutable {
            return .generationChanged(.validatorChanged)
        }
        guard let value = fields[.contentRange], case .unsatisfied(let length) = ContentRange(value) else {
            return .retryWithoutRange
        }
        if let known = generation?.completeLength, known != length { return .generationChanged(.lengthChanged) }
        return asked.resolve(completeLength: length) == nil
            ? .unsatisfiable(completeLength: length) : .retryWithoutRange
    }

    private func change(completeLength: Int64?, confirmed: Bool) -> GenerationChange? {
        guard let generation else { return .noGeneration }
        let current = GenerationIdentity(
            validators: Validators(fields), completeLength: completeLength, mediaType: fields[.contentType],
            finalHost: finalHost)
        return generation.change(to: current, policy: policy, confirmed: confirmed)
    }

    /// Whether a part may be placed where its Content-Range says.
    ///
    /// It may if it begins where requested. If it begins earlier and covers the requested position, its validator must
    /// vouch for it; if nothing is stored, nothing can be mixed up.
    private func isPlaced(
        _ range: Range<Int64>, asAskedBy asked: RangeSpec, completeLength: Int64?, continues: Bool
    ) -> Bool {
        let start: Int64
        switch asked {
        case .bounded(let bounds): start = bounds.lowerBound
        case .from(let offset): start = offset
        case .suffix:
            guard let completeLength else { return true }
            guard let resolved = asked.resolve(completeLength: completeLength) else { return false }
            start = resolved.lowerBound
        }
        return range.lowerBound == start || range.contains(start) && (continues || generation == nil)
    }

    /// Whether only a part was requested, so that a 200 does not honor the range.
    ///
    /// A suffix range doesn't count, because servers that support other ranges may ignore it.
    private func wantsPart(completeLength: Int64?) -> Bool {
        switch request.range {
        case nil, .suffix: false
        case let asked?:
            asked != .from(0) && completeLength.map { asked.resolve(completeLength: $0) != 0..<$0 } != false
        }
    }

    /// Whether a 200 proves that the origin ignores ranges (RFC 9110 §14.2).
    ///
    /// It doesn't if the request had If-Range. Accept-Ranges is no proof either way.
    private func isPartRefused(completeLength: Int64?) -> Bool {
        !request.sentIfRange && wantsPart(completeLength: completeLength)
    }

    /// Whether the origin sent the whole representation although the If-Range condition is true (RFC 9110 §13.1.5).
    ///
    /// It may send the part if the request is repeated without If-Range.
    private func isIfRangeMisunderstood(completeLength: Int64?) -> Bool {
        request.sentIfRange && wantsPart(completeLength: completeLength)
    }

    /// Whether Content-Range contradicts that a 200 is the whole representation, so that its offset is unknown.
    ///
    /// The field has no meaning in a 200 (RFC 9110 §14.4), but servers that forget to set status 206 send parts with
    /// it.
    private func isPartByItsContentRange(length: Int64?) -> Bool {
        guard let value = fields[.contentRange], case .satisfied(let range, let complete) = ContentRange(value) else {
            return false
        }
        // A body with the complete length is the whole representation, whatever Content-Range says.
        if let complete, length == complete || length == nil && range == 0..<complete { return false }
        return request.range != nil || length == range.upperBound - range.lowerBound
    }

    /// Why the body must not be stored; a page or JSON may be if the validator proves that it always was the content.
    private func passThroughReason(continues: Bool) -> PassThroughReason? {
        // Most pages that ask for a log-in forbid storing, which says nothing about the stored response.
        if generation != nil, isUnexpectedNotice(continues: continues) { return .unexpectedNotice }
        if fields.contentCoding != nil, !isCodedText { return .contentEncoding }
        guard let vary = Vary(fields) else { return .varyAny }
        if fields.contains(where: { $0.name.canonicalName == "icy-metaint" }) { return .icyMetadata }
        let control = CacheControl(fields, isShared: storage.isShared)
        if let objection = storage.objection(to: control, vary: vary) { return objection }
        if storage.isShared, fields[.setCookie] != nil, MediaType(fields[.contentType])?.isText == true,
            !control.isPublic, control.sharedMaxAge == nil
        {
            return .setsCookie
        }
        return isUnexpectedNotice(continues: continues) ? .unexpectedNotice : nil
    }

    /// Text that arrived whole may be stored in its content coding, because nothing seeks in it.
    private var isCodedText: Bool {
        guard response.status.code == 200, let type = MediaType(fields[.contentType]) else { return false }
        return !type.isMedia && !request.expectsMedia
    }

    /// Whether media was requested, is stored, or is declared.
    private var isOfMedia: Bool {
        if let stored = generation?.mediaType { return MediaType(stored)?.isMedia ?? false }
        return request.expectsMedia || MediaType(fields[.contentType])?.isMedia ?? false
    }

    /// Whether media without bytes are a file that is empty, such as a segment in which nothing is said or shown.
    ///
    /// A program that fails sends nothing, too, but no validator with it; and no stored byte is given up for it.
    private var isEmptyFile: Bool {
        if let generation { return generation.completeLength == 0 }
        let validators = Validators(fields)
        return request.mayBeEmpty && (validators.etag != nil || validators.lastModified != nil)
    }

    private func isUnexpectedNotice(continues: Bool) -> Bool {
        guard let type = MediaType(fields[.contentType]), type.isNotice else { return false }
        if type.isHTML, request.expectsMedia { return true }
        guard let stored = MediaType(generation?.mediaType), !stored.isNotice else { return false }
        // Programs may leave the type of media at JSON, and other files may become JSON.
        guard type.isHTML || stored.isDeclaredMedia || stored.isPlaylist else { return false }
        return !continues || policy == .immutable
    }

    /// Whether the type and length show that the body should not replace the stored media.
    ///
    /// Some servers send their errors with status 200. Replacing the stored response is allowed but not required (RFC
    /// 9111 §4.3.3). The first bytes of the body are checked later (``BodyBeginning``).
    private func replacesByLess(length: Int64?) -> Bool {
        guard let generation, MediaType(generation.mediaType)?.isMedia ?? true else { return false }
        let validators = Validators(fields)
        let isShort = length.map { $0 < generation.shortLength ?? 0 } ?? false
        guard !validators.isEmpty else {
            if isShort { return true }
            guard let type = MediaType(fields[.contentType]), type.isOfOtherKind else { return false }
            return generation.mediaType != nil
        }
        return isShort && MediaType(fields[.contentType])?.isOfOtherKind == true
    }

    /// Whether the body is a live stream rather than a file.
    ///
    /// Live streams are media without a validator that have the fields of a radio server, or that have no length and
    /// must be revalidated each time.
    private func isLive(length: Int64?) -> Bool {
        let validators = Validators(fields)
        guard !request.isForFile, storage.honorsNoStore, validators.etag == nil, validators.lastModified == nil,
            MediaType(fields[.contentType])?.isMedia ?? true
        else { return false }
        if fields.contains(where: { $0.name.canonicalName.hasPrefix("icy-") }) { return true }
        guard length == nil else { return false }
        let now = fields[.date].flatMap { HTTPDate($0) } ?? HTTPDate(secondsSince1970: 0)
        let freshness = Freshness(fields, requestTime: now, responseTime: now, isShared: storage.isShared)
        return freshness.requiresValidation || freshness.hasExplicitLifetime && freshness.lifetime == 0
    }
}
