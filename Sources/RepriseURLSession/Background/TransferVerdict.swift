import HTTPSemantics
import HTTPTypes
import Reprise

/// What the response of a transfer in the background is, by its head and the length of its file.
enum TransferVerdict: Codable, Hashable, Sendable {
    /// The part that was asked for, or its beginning, of the representation that was asked for.
    case part(Range<Int64>, completeLength: Int64?)
    /// A whole representation: nothing else was asked for, it is another one than before, or the origin has no ranges.
    case whole(length: Int64)
    /// The origin has another representation by now: it says so, or has sent a part of it.
    case changed
    /// Neither: the origin's answer is an error.
    case refusal

    /// Judges a response.
    ///
    /// `leavesTLS` says that the request went to https and the response came from http. Throws ``RepriseError``, and
    /// nothing of the body may be used: `originMisbehaved`, `originBodyTruncated`, `originRedirectRefused`.
    static func judge(
        _ record: TransferRecord, _ head: HTTPResponse, length: Int64, from url: ResourceURL, leavesTLS: Bool = false
    ) throws(RepriseError) -> TransferVerdict {
        guard !leavesTLS else {
            throw RepriseError(
                .originRedirectRefused, "\(url.authority) answered without TLS after a redirect; use https throughout.")
        }
        if let declared = head.headerFields[.contentLength].flatMap({ contentLength($0) }), declared != length {
            throw .originBodyTruncated(url.authority, cause: nil)
        }
        switch head.status.code {
        case 200: return try judgeWhole(record, head, length: length, from: url)
        case 206: return try judgePart(record, head, length: length, from: url)
        case 412 where record.validator != nil: return .changed
        default: return .refusal
        }
    }

    private static func judgeWhole(
        _ record: TransferRecord, _ head: HTTPResponse, length: Int64, from url: ResourceURL
    ) throws(RepriseError) -> TransferVerdict {
        let isSame = names(Validators(head.headerFields), record.validator)
        guard let asked = record.range, length <= asked.lowerBound, isSame else { return .whole(length: length) }
        // It would neither show a change nor bring a byte that was asked for, and would be asked for again for ever.
        throw Failures.misbehaved(url, what: "is shorter than before, with the validator that it had,")
    }

    /// Whether one of `validators` is the one that was sent.
    ///
    /// The date was strong when it was sent: a response need not say when it was made.
    private static func names(_ validators: Validators, _ sent: String?) -> Bool {
        [validators.etag?.description, validators.lastModified?.description].contains(sent)
    }

    private static func judgePart(
        _ record: TransferRecord, _ head: HTTPResponse, length: Int64, from url: ResourceURL
    ) throws(RepriseError) -> TransferVerdict {
        guard let asked = record.range, let validator = record.validator,
            case .satisfied(let range, let completeLength) = head.headerFields[.contentRange].flatMap({
                ContentRange($0)
            })
        else { throw Failures.misbehaved(url, what: "is a part that was not asked for") }
        guard range.upperBound - range.lowerBound == length else {
            throw .originBodyTruncated(url.authority, cause: nil)
        }
        let validators = Validators(head.headerFields)
        guard validators.etag != nil || validators.lastModified != nil else {
            throw Failures.misbehaved(url, what: "is a part without the validator that it was asked with")
        }
        guard names(validators, validator) else { return .changed }
        guard range.lowerBound == asked.lowerBound, range.upperBound <= asked.upperBound else {
            throw Failures.misbehaved(url, what: "is another part than was asked for")
        }
        return .part(range, completeLength: completeLength)
    }
}
