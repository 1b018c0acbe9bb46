/// When bytes of a new response may join those of an older one.
public enum GenerationPolicy: Sendable, Hashable {
    /// Only under the same strong validator (RFC 9110 §15.3.7.3); the default.
    case strict
    /// Also if Last-Modified is unchanged and at least a second before both Dates, and the complete length is the same.
    case lengthAndDate
    /// Always, unless the complete length differs: the app guarantees that the key names one unchanging representation.
    case immutable
}
