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

/// The result of a client's preconditions (RFC 9110 §13.2.2).
public enum PreconditionResult: Sendable, Hashable {
    /// Answer the request: with the selected range if `rangeApplies`, otherwise in full.
    case proceed(rangeApplies: Bool)
    /// Answer 304.
    case notModified
    /// Answer 412.
    case preconditionFailed
}

/// The value of an If-Match or If-None-Match field (RFC 9110 §13.1.1, §13.1.2).
public enum EntityTagCondition: Sendable, Hashable {
    /// `*`: any representation that exists.
    case any
    /// One of these tags; never empty when parsed.
    case tags([EntityTag])

    /// Parses a field value; `nil` if it is neither `*` nor a list of tags, or over 8 KiB.
    ///
    /// Empty list elements are ignored (RFC 9110 §5.6.1.2); one invalid tag makes the whole value invalid.
    public init?(_ value: String) {
        guard var scanner = FieldScanner(value) else { return nil }
        if scanner.skip("*") {
            guard scanner.isAtEnd else { return nil }
            self = .any
            return
        }
        var tags: [EntityTag] = []
        let isValid = scanner.list { scanner in
            guard let tag = EntityTag(scanning: &scanner) else { return false }
            tags.append(tag)
            return true
        }
        guard isValid, !tags.isEmpty else { return nil }
        self = .tags(tags)
    }

    /// Whether `tag` matches one of the tags by strong comparison, as required for If-Match (RFC 9110 §13.1.1).
    ///
    /// `*` matches whenever a representation `exists`, with or without a tag.
    public func stronglyMatches(_ tag: EntityTag?, exists: Bool) -> Bool {
        matches(tag, exists: exists) { $0.stronglyMatches($1) }
    }

    /// Whether `tag` matches one of the tags by weak comparison, as required for If-None-Match (RFC 9110 §13.1.2).
    ///
    /// `*` matches whenever a representation `exists`, with or without a tag.
    public func weaklyMatches(_ tag: EntityTag?, exists: Bool) -> Bool {
        matches(tag, exists: exists) { $0.weaklyMatches($1) }
    }

    private func matches(_ tag: EntityTag?, exists: Bool, by comparison: (EntityTag, EntityTag) -> Bool) -> Bool {
        guard exists else { return false }
        switch self {
        case .any: return true
        case .tags(let tags):
            guard let tag else { return false }
            return tags.contains { comparison($0, tag) }
        }
    }
}

extension EntityTagCondition: CustomStringConvertible {
    /// The field value: `*` or `"a", W/"b"`.
    public var description: String {
        switch self {
        case .any: "*"
        case .tags(let tags): tags.map(\.description).joined(separator: ", ")
        }
    }
}

/// The value of an If-Range field: honor Range only if the representation is unchanged (RFC 9110 §13.1.5).
public enum IfRange: Sendable, Hashable {
    /// Unchanged if the current entity tag matches by strong comparison.
    case entityTag(EntityTag)
    /// Unchanged if the current Last-Modified is exactly this and strong.
    case date(HTTPDate)

    /// Parses a field value; `nil` if it is neither an entity tag nor a date.
    ///
    /// A weak tag is parsed, so that it can be answered, but never matches. `now` is used for two-digit years: see
    /// ``HTTPDate/init(_:now:)``.
    public init?(_ value: String, now: HTTPDate? = nil) {
        if let tag = EntityTag(value) {
            self = .entityTag(tag)
        } else if let date = HTTPDate(value, now: now) {
            self = .date(date)
        } else {
            return nil
        }
    }

    /// Whether the representation with these validators is the one that the client has a part of.
    public func matches(_ validators: Validators) -> Bool {
        switch self {
        case .entityTag(let tag): validators.etag.map(tag.stronglyMatches) ?? false
        case .date(let date): validators.isLastModifiedStrong && validators.lastModified == date
        }
    }
}

extension IfRange: CustomStringConvertible {
    /// The field value.
    public var description: String {
        switch self {
        case .entityTag(let tag): tag.description
        case .date(let date): date.description
        }
    }
}
