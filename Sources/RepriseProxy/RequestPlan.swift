package import HTTPSemantics
import HTTPTypes
import Reprise

/// What a GET or HEAD asks for, once the stored validators are known (RFC 9110 §13.2.2).
package enum RequestPlan {
    /// Send `range`, or all; `isPartial` = as 206.
    case send(RangeSpec?)
    /// Send these parts as multipart/byteranges (RFC 9110 §15.3.7.2).
    case sendParts([RangeSpec])
    case notModified
    case preconditionFailed

    /// Most parts that are sent; a request for more is answered with the whole.
    private static let maximumParts = 64

    /// Decides from the request's fields and what is known of the representation.
    ///
    /// Several ranges need its length: without it they are answered with the whole. So are overlapping ones, and more
    /// than 64: RFC 9110 §14.2 allows to ignore Range, and answering would be work for nothing.
    init(_ head: RequestHead, _ information: ContentInformation?) {
        self.init(head, Self.ranges(head), information)
    }

    /// The same when `ranges` of the request are known.
    init(_ head: RequestHead, _ ranges: [RangeSpec], _ information: ContentInformation?) {
        let wanted = Self.plan(ranges, completeLength: information?.completeLength)
        guard let information, Self.isConditional(head) else {
            self = wanted
            return
        }
        var validators = information.validators
        validators.etag = ResponseHead.entityTag(information)
        let method: HTTPRequest.Method = head.method == .head ? .head : .get
        switch evaluatePreconditions(head.fields, method: method, validators: validators) {
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

    /// The ranges of the request, in its order; none if it asks for the whole, or for what cannot be understood.
    package static func ranges(_ head: RequestHead) -> [RangeSpec] {
        guard head.method == .get, let value = head.value("range"), let field = RangeField(value) else { return [] }
        return field.specs
    }

    static func isConditional(_ head: RequestHead) -> Bool {
        head.count("if-range") + head.count("if-match") + head.count("if-none-match")
            + head.count("if-modified-since") + head.count("if-unmodified-since") > 0
    }
}
