import HTTPSemantics
import HTTPTypes
import Reprise

/// What a GET or HEAD asks for, once the stored validators are known (RFC 9110 §13.2.2).
enum RequestPlan {
    /// Send `range`, or all; `isPartial` = as 206.
    case send(RangeSpec?)
    case notModified
    case preconditionFailed

    /// Decides from the request's fields and what is known of the representation.
    ///
    /// Several ranges are answered with the whole: RFC 9110 §14.2 allows to ignore Range.
    init(_ head: RequestHead, _ information: ContentInformation?) {
        let range = Self.range(head)
        guard let information, Self.isConditional(head) else {
            self = .send(range)
            return
        }
        var validators = information.validators
        validators.etag = ResponseHead.entityTag(information)
        let method: HTTPRequest.Method = head.method == .head ? .head : .get
        switch evaluatePreconditions(head.fields, method: method, validators: validators) {
        case .notModified: self = .notModified
        case .preconditionFailed: self = .preconditionFailed
        case .proceed(let rangeApplies): self = .send(rangeApplies ? range : nil)
        }
    }

    static func range(_ head: RequestHead) -> RangeSpec? {
        guard head.method == .get, let value = head.value("range"), let field = RangeField(value),
            field.specs.count == 1
        else { return nil }
        return field.specs.first
    }

    static func isConditional(_ head: RequestHead) -> Bool {
        head.count("if-range") + head.count("if-match") + head.count("if-none-match")
            + head.count("if-modified-since") + head.count("if-unmodified-since") > 0
    }
}
