import HTTPSemantics
import HTTPTypes
import Reprise

/// A request of the engine that may be answered by transfers in the background.
struct TransferAsk: Sendable {
    let title: String
    let entry: String
    /// The missing bytes, from the first one that is asked for; `nil` for the whole.
    let hole: Range<Int64>?
    /// The validator in If-Range; `nil` for the whole.
    let validator: String?
    /// How it is sent.
    let form: Form
    let networks: TransferNetworks

    /// What the transfers for a request have in common: an answer that depends on it is none to other requests.
    struct Form: Sendable, Equatable {
        var url: ResourceURL?
        /// Without those that say which part of the file is wanted.
        var fields = HTTPFields()
    }

    init(
        title: String, entry: String, hole: Range<Int64>? = nil, validator: String? = nil, form: Form = Form(),
        networks: TransferNetworks = TransferNetworks(.any)
    ) {
        (self.title, self.entry, self.hole, self.validator) = (title, entry, hole, validator)
        (self.form, self.networks) = (form, networks)
    }

    /// `nil` for a request that must be answered while the program runs: one without an errand, and one for a part that
    /// nothing would keep from being a part of another representation (RFC 9110 §13.1.5).
    init?(_ request: OriginRequest, over networks: TransferNetworks) {
        guard let errand = request.context.errand, request.method == .get, request.body.isEmpty else { return nil }
        var form = Form(url: request.url, fields: request.fields)
        (form.fields[.range], form.fields[.ifRange]) = (nil, nil)
        guard let field = request.fields[.range] else {
            self.init(title: errand.title, entry: errand.entry, form: form, networks: networks)
            return
        }
        guard let validator = request.fields[.ifRange], let hole = errand.hole, !hole.isEmpty,
            RangeField(field)?.single?.resolve(completeLength: hole.upperBound)?.lowerBound == hole.lowerBound
        else { return nil }
        self.init(
            title: errand.title, entry: errand.entry, hole: hole, validator: validator, form: form, networks: networks)
    }
}
