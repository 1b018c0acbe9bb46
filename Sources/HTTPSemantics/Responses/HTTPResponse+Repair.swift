package import HTTPTypes

extension HTTPResponse {
    /// Corrects what origins get wrong and what is certain all the same, in the answer to a GET for `range`.
    ///
    /// A response without a valid Date gets the time `now` at which it arrived (RFC 9110 §6.6.1). A 200 whose
    /// Content-Range begins where requested, and whose Content-Length is that of this part and not that of the whole,
    /// is a 206: scripts that send parts forget the status.
    package mutating func repair(askedFor range: RangeSpec?, now: HTTPDate) {
        if headerFields[.date].flatMap({ HTTPDate($0) }) == nil { headerFields[.date] = now.description }
        if status == .ok, let range, isPart(askedFor: range) { status = .partialContent }
    }

    private func isPart(askedFor asked: RangeSpec) -> Bool {
        guard let value = headerFields[.contentRange], case .satisfied(let range, let complete?) = ContentRange(value),
            case .declared(let length) = ResponseFraming(headerFields),
            length == range.upperBound - range.lowerBound, range != 0..<complete
        else { return false }
        return asked.resolve(completeLength: complete)?.lowerBound == range.lowerBound
    }
}
