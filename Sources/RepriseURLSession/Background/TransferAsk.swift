import ByteRanges
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

    /// What the transfers of a request have in common; their responses answer no other request.
    struct Form: Sendable, Equatable {
        var url: ResourceURL?
        /// Without Range and If-Range.
        var fields = HTTPFields()
    }

    init(
        title: String, entry: String, hole: Range<Int64>? = nil, validator: String? = nil, form: Form = Form(),
        networks: TransferNetworks = TransferNetworks(.any)
    ) {
        (self.title, self.entry, self.hole, self.validator) = (title, entry, hole, validator)
        (self.form, self.networks) = (form, networks)
    }

    /// `nil` for a request that background transfers cannot answer: one without an errand, or one for a part without
    /// the validator that ties it to its representation (RFC 9110 §13.1.5).
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

/// Which transfers a hole needs.
enum TransferPlan {
    /// Maximum size of one transfer, 64 MiB: its bytes count only once all have arrived, and they are briefly on disk
    /// twice.
    static let largestTransfer: Int64 = 64 << 20

    /// The parts of `hole` that no range in `underWay` covers, in order, none longer than `largest`.
    static func transfers(
        for hole: Range<Int64>, underWay: [Range<Int64>], largest: Int64 = largestTransfer
    ) -> [Range<Int64>] {
        var known = ByteRangeSet()
        for range in underWay { known.insert(range) }
        return known.holes(in: hole).flatMap { hole in
            stride(from: hole.lowerBound, to: hole.upperBound, by: Int64.Stride(largest)).map {
                $0..<min($0 + largest, hole.upperBound)
            }
        }
    }
}
