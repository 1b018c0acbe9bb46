public import HTTPTypes

/// Evaluates the preconditions of a client's request in the order of RFC 9110 §13.2.2.
///
/// If-Match compares strongly, If-None-Match weakly; a tag condition overrides the date condition beside it. A tag
/// condition that cannot be parsed names no tag: If-Match then fails, If-None-Match holds. A date that cannot be parsed
/// is ignored, as is If-Unmodified-Since if the representation has no modification date. An If-Range that cannot be
/// parsed does not match. `rangeApplies` does not say whether the range is satisfiable.
///
/// - Parameters:
///   - request: The request's fields.
///   - method: The request's method; Range and If-Range apply to GET only (§14.2).
///   - validators: Those of the stored response that would be sent.
///   - exists: Whether there is a current representation at all.
///   - now: For two-digit years: see ``HTTPDate/init(_:now:)``.
/// - Returns: How to answer.
public func evaluatePreconditions(
    _ request: HTTPFields, method: HTTPRequest.Method = .get, validators: Validators, exists: Bool = true,
    now: HTTPDate? = nil
) -> PreconditionResult {
    let isRead = method == .get || method == .head
    if let value = request[.ifMatch] {
        let condition = EntityTagCondition(value)
        guard condition?.stronglyMatches(validators.etag, exists: exists) == true else { return .preconditionFailed }
    } else if let limit = request[.ifUnmodifiedSince].flatMap({ HTTPDate($0, now: now) }) {
        if let modified = validators.lastModified, modified > limit { return .preconditionFailed }
    }
    if let value = request[.ifNoneMatch] {
        let condition = EntityTagCondition(value)
        if condition?.weaklyMatches(validators.etag, exists: exists) == true {
            return isRead ? .notModified : .preconditionFailed
        }
    } else if isRead, let limit = request[.ifModifiedSince].flatMap({ HTTPDate($0, now: now) }) {
        // Without a modification date, the date of the response is used instead (RFC 9111 §4.3.2).
        if let modified = validators.lastModified ?? validators.date, modified <= limit { return .notModified }
    }
    guard method == .get, let range = request[.range], RangeField(range) != nil else {
        return .proceed(rangeApplies: false)
    }
    guard let value = request[.ifRange] else { return .proceed(rangeApplies: true) }
    return .proceed(rangeApplies: IfRange(value, now: now)?.matches(validators) == true)
}
