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
