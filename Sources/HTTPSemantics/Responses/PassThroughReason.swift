/// Why a usable response must not be stored.
public enum PassThroughReason: Sendable, Hashable {
    /// Content-Encoding that changes the bytes, so that offsets would count encoded bytes (RFC 9110 §8.4).
    case contentEncoding
    /// `Vary: *` (RFC 9111 §4.1).
    case varyAny
    /// `no-store`, and the policy honors it (RFC 9111 §5.2.2.5).
    case noStore
    /// `private`, and the cache is shared (RFC 9111 §5.2.2.7).
    case isPrivate
    /// The request carried Authorization, the cache is shared, and nothing allows storing the response (RFC 9111 §3.5).
    case authorization
    /// The request carried fields that are not part of any key, the cache is shared, and Vary does not name them (RFC
    /// 9111 §4.1).
    case unkeyedFields
    /// A text that sets a cookie, the cache is shared, and neither `public` nor `s-maxage` allows storing it: it may be
    /// made for one user (RFC 9111 §7.3).
    case setsCookie
    /// ICY metadata lies between the media bytes.
    case icyMetadata
    /// A live stream rather than a file: media with neither a length nor a validator, which must not be reused.
    case live
    /// A body that can't be a version of the expected or stored media, such as a web page, a short text or an image.
    ///
    /// It comes from a captive portal, or is an error sent with status 200.
    case unexpectedNotice
    /// No bytes with status 200 where media was expected, and nothing that shows that the file is empty.
    case emptyBody
    /// A 200 whose Content-Range declares it a part, or a part with an incorrect Content-Range or Content-Length.
    case contradictoryRange
    /// A successful status other than 200 and 206.
    case unexpectedStatus

    /// Whether the response says nothing about the stored representation.
    package var isOfNoVersion: Bool {
        switch self {
        case .unexpectedNotice, .emptyBody, .unexpectedStatus: true
        default: false
        }
    }
}
