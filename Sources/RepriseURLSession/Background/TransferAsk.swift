import HTTPSemantics
import Reprise

/// A request of the engine that may be answered by transfers in the background.
struct TransferAsk: Sendable {
    let title: String
    let entry: String
    /// The missing bytes, from the first one that is asked for; `nil` for the whole.
    let hole: Range<Int64>?
    /// The validator in If-Range; `nil` for the whole.
    let validator: String?

    init(title: String, entry: String, hole: Range<Int64>? = nil, validator: String? = nil) {
        (self.title, self.entry, self.hole, self.validator) = (title, entry, hole, validator)
    }

    /// `nil` for a request that must be answered while the program runs: one without an errand, and one for a part that
    /// nothing would keep from being a part of another representation (RFC 9110 §13.1.5).
    init?(_ request: OriginRequest) {
        guard let errand = request.errand, request.method == .get, request.body.isEmpty else { return nil }
        guard let field = request.fields[.range] else {
            self.init(title: errand.title, entry: errand.entry)
            return
        }
        guard let validator = request.fields[.ifRange], let hole = errand.hole, !hole.isEmpty,
            RangeField(field)?.single?.resolve(completeLength: hole.upperBound)?.lowerBound == hole.lowerBound
        else { return nil }
        self.init(title: errand.title, entry: errand.entry, hole: hole, validator: validator)
    }
}
