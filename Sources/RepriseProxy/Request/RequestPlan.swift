import HTTPSemantics
import HTTPTypes
import Reprise

/// What is sent in answer to a GET or HEAD (RFC 9110 §13.2.2): a pure decision, carried to the answer that follows it.
enum RequestPlan: Sendable {
    /// Send the range as 206, or the whole as 200 if it is `nil`; of the representation that satisfied the request's
    /// conditions, if it has any.
    case send(RangeSpec?, of: ContentInformation?)
    /// Send these parts as multipart/byteranges (RFC 9110 §15.3.7.2).
    case sendParts([RangeSpec])
    /// Send 304 or 412, without a byte of the representation.
    case sendHead(MediaResponse.Content, of: ContentInformation)
    /// The answer depends on a representation of which nothing is known: begin a read of this range, and plan again
    /// with what it brings.
    case learn(RangeSpec?)

    /// Maximum number of parts sent; a request for more is answered with the whole.
    private static let maximumParts = 64

    /// Decides from a request and the metadata of the representation, if they are known.
    ///
    /// Several ranges require a known length; without it they are answered with the whole. So are overlapping ones and
    /// more than 64: RFC 9110 §14.2 allows ignoring Range, and answering them would be wasted work. `ranges` replaces
    /// those of the request.
    init(_ request: MediaRequest, ranges: [RangeSpec]? = nil, for information: ContentInformation?) {
        let ranges = ranges ?? request.ranges
        guard let information else {
            self = request.isConditional || ranges.count > 1 ? .learn(ranges.first) : .send(ranges.first, of: nil)
            return
        }
        guard request.isConditional else {
            self = Self.plan(ranges, of: nil, completeLength: information.completeLength)
            return
        }
        var validators = information.validators
        validators.etag = RepresentationFields.entityTag(of: information)
        let method: HTTPRequest.Method = request.isHead ? .head : .get
        switch evaluatePreconditions(request.head.fields, method: method, validators: validators) {
        case .notModified: self = .sendHead(.notModified, of: information)
        case .preconditionFailed: self = .sendHead(.preconditionFailed, of: information)
        case .proceed(rangeApplies: true):
            self = Self.plan(ranges, of: information, completeLength: information.completeLength)
        case .proceed(rangeApplies: false): self = .send(nil, of: information)
        }
    }

    private static func plan(
        _ ranges: [RangeSpec], of judged: ContentInformation?, completeLength: Int64?
    ) -> RequestPlan {
        guard ranges.count > 1 else { return .send(ranges.first, of: judged) }
        guard ranges.count <= maximumParts, let completeLength else { return .send(nil, of: judged) }
        let resolved = ranges.compactMap { $0.resolve(completeLength: completeLength) }
        guard resolved.count > 1 else {
            return .send(resolved.first.map { .bounded($0) } ?? ranges[0], of: judged)
        }
        let sorted = resolved.sorted { $0.lowerBound < $1.lowerBound }
        let areApart = zip(sorted, sorted.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound }
        return areApart ? .sendParts(resolved.map { .bounded($0) }) : .send(nil, of: judged)
    }
}

extension RequestPlan {
    /// Decides with the metadata that `resource` has in memory, if the request depends on any.
    ///
    /// If `filter` replaces the body, ranges and conditions are those of a text that is not known yet. Never waits.
    init(_ request: MediaRequest, to resource: @autoclosure () -> MediaResource, filter: any BodyFilter) {
        guard request.isConditional || request.ranges.count > 1,
            let stored = resource().storedInMemory(fields: request.head.originFields),
            stored.isUsable(for: request.directives)
        else {
            self.init(request, for: nil)
            return
        }
        let usable = stored.information
        if filter.editorOfText(usable, at: resource().url) == nil {
            self.init(request, for: usable)
        } else {
            self = .learn(nil)
        }
    }
}
