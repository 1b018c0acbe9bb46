import HTTPTypes
import Reprise
import RepriseTesting

enum Model {}

extension Model {
    /// How the origin behaves for a path.
    enum Manner: String, CaseIterable {
        // No faults: a read costs exactly the missing bytes.
        case honest, redirected, varying, late, dripping, chunked, closeDelimited, unknownTotal, shorter, ignoresIfRange
        // Odd, but every read can be served.
        case weak, noValidator, noRanges, longer, tooMuch, bare416
        // Bytes that are not stored are unavailable, or not all of them are available.
        case truncated, reset, resetBeforeHead, resetBeforeBody, shifted, multipart, misstated, unavailable, page, empty
        case coded

        /// Whether a read costs exactly the missing bytes.
        var isExact: Bool {
            switch self {
            case .honest, .redirected, .varying, .late, .dripping, .chunked, .closeDelimited, .unknownTotal, .shorter,
                .ignoresIfRange:
                true
            default: false
            }
        }

        /// The errors that it may cause if bytes are missing.
        var faults: Set<RepriseError.Code> {
            switch self {
            case .truncated, .reset, .resetBeforeBody: [.originBodyTruncated, .originUnreachable]
            case .resetBeforeHead: [.originUnreachable]
            case .shifted, .multipart, .misstated: [.originMisbehaved]
            case .unavailable: [.originRefused]
            case .page, .empty: [.originMisbehaved]
            case .coded: [.validatorChanged]
            default: []
            }
        }

        /// Whether a response may be passed on unchanged, and is not stored then.
        var passesThrough: Bool { [.page, .empty, .coded, .misstated, .multipart].contains(self) }

        /// Whether a first response may omit the length.
        var hidesLength: Bool { [.chunked, .closeDelimited, .unknownTotal].contains(self) }

        var validator: Validator {
            switch self {
            case .weak: .weak
            case .noValidator: .none
            default: .strong
            }
        }

        func personality(_ path: Int) -> TestOrigin.Personality {
            TestOrigin.Personality { personality in
                switch self {
                case .honest, .varying, .noValidator: break
                case .redirected: personality.redirect = "/at/\(path).mp4"
                case .late: personality.latency = .milliseconds(1)
                case .dripping:
                    personality.bytesPerSecond = 50_000_000
                    personality.firstChunk = 1_000
                case .ignoresIfRange: personality.ignoresIfRange = true
                case .weak: personality.weakETag = true
                case .noRanges:
                    personality.ignoresRange = true
                    personality.acceptRanges = nil
                case .chunked: personality.framing = .chunked
                case .closeDelimited: personality.framing = .closeDelimited
                case .truncated: personality.truncateAfter = 20_000
                case .reset: personality.resetAfter = 20_000
                case .resetBeforeHead: personality.resetBeforeHead = true
                case .resetBeforeBody: personality.resetBeforeBody = true
                case .shorter: personality.shorterThanAsked = 100
                case .longer: personality.longerThanAsked = 100
                case .unknownTotal: personality.statedLength = .unknown
                case .bare416: personality.omitsLengthOf416 = true
                case .shifted: personality.shiftsStartBy = 10
                case .multipart: personality.multipartForSingle = true
                case .misstated: personality.misstatesEndBy = 10
                case .unavailable: personality.status = 503
                case .page: personality.captivePortal = "<html>Log in</html>"
                case .empty: personality.emptyBody = true
                case .coded: personality.contentEncoding = "gzip"
                case .tooMuch: personality.surplusBytes = 10
                }
            }
        }

        /// Further fields of responses.
        var fields: HTTPFields {
            var fields: HTTPFields = [.cacheControl: "max-age=300"]
            if self == .varying { fields[.vary] = "Accept-Language" }
            return fields
        }
    }

    /// How a representation can be distinguished from others.
    enum Validator { case strong, weak, none }

    /// One state of the representation at a path: bytes of this version, with this validator.
    struct Face: Hashable {
        var version: UInt64
        var validator: Validator
    }
}
