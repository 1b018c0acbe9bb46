package import HTTPSemantics
import HTTPTypes
import Reprise

/// The response to a GET or HEAD, once the stored validators are known (RFC 9110 §13.2.2).
package enum RequestPlan: Equatable {
    /// Send the range as 206, or the whole as 200 if it is `nil`.
    case send(RangeSpec?)
    /// Send these parts as multipart/byteranges (RFC 9110 §15.3.7.2).
    case sendParts([RangeSpec])
    case notModified
    case preconditionFailed

    /// Maximum number of parts sent; a request for more is answered with the whole.
    private static let maximumParts = 64

    /// Decides from a request and the metadata of the representation.
    ///
    /// Several ranges require a known length; without it they are answered with the whole. So are overlapping ones and
    /// more than 64: RFC 9110 §14.2 allows ignoring Range, and answering them would be wasted work. `ranges` replaces
    /// those of the request.
    init(_ request: MediaRequest, ranges: [RangeSpec]? = nil, for information: ContentInformation?) {
        let wanted = Self.plan(ranges ?? request.ranges, completeLength: information?.completeLength)
        guard let information, request.isConditional else {
            self = wanted
            return
        }
        var validators = information.validators
        validators.etag = RepresentationFields.entityTag(of: information)
        let method: HTTPRequest.Method = request.isHead ? .head : .get
        switch evaluatePreconditions(request.head.fields, method: method, validators: validators) {
        case .notModified: self = .notModified
        case .preconditionFailed: self = .preconditionFailed
        case .proceed(let rangeApplies): self = rangeApplies ? wanted : .send(nil)
        }
    }

    private static func plan(_ ranges: [RangeSpec], completeLength: Int64?) -> RequestPlan {
        guard ranges.count > 1 else { return .send(ranges.first) }
        guard ranges.count <= maximumParts, let completeLength else { return .send(nil) }
        let resolved = ranges.compactMap { $0.resolve(completeLength: completeLength) }
        guard resolved.count > 1 else { return .send(resolved.first.map { .bounded($0) } ?? ranges[0]) }
        let sorted = resolved.sorted { $0.lowerBound < $1.lowerBound }
        let areApart = zip(sorted, sorted.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound }
        return areApart ? .sendParts(resolved.map { .bounded($0) }) : .send(nil)
    }
}
