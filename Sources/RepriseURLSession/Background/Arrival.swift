import Foundation
import HTTPSemantics
import HTTPTypes
import Reprise

/// A response that has come in the background: its head; its body is a file.
struct Arrival: Codable, Sendable {
    let record: TransferRecord
    let verdict: TransferVerdict
    let status: Int
    /// Names and values, in their order.
    let fields: [[String]]
    /// Where it came from, after redirects.
    let url: String
    /// Bytes of the file.
    let length: Int64

    init(
        _ record: TransferRecord, _ verdict: TransferVerdict, _ head: HTTPResponse, from url: ResourceURL, length: Int64
    ) {
        (self.record, self.verdict, self.length) = (record, verdict, length)
        (status, self.url) = (head.status.code, url.description)
        var fields = head.headerFields
        if fields[.date] == nil {
            // It may be hours old when it is read, and would count as new.
            fields[.date] = HTTPDate(secondsSince1970: record.begun).description
        }
        // Cookies stay with the request that brought them.
        fields[.setCookie] = nil
        self.fields = fields.map { [$0.name.rawName, $0.value] }
    }

    /// The head, as it came.
    var head: HTTPResponse {
        var head = HTTPResponse(status: .init(code: status))
        for field in fields where field.count == 2 {
            if let name = HTTPField.Name(field[0]) { head.headerFields.append(HTTPField(name: name, value: field[1])) }
        }
        return head
    }

    /// Whether it says something of the request that was sent, such as of its credentials, and not only of the origin
    /// (RFC 9110 §15.5; RFC 6585 §4).
    var isOfItsRequest: Bool { (400..<500).contains(status) && status != 429 }

    /// Where it came from, after redirects.
    var source: ResourceURL? { try? ResourceURL(url) }

    /// The validator with which the rest of the same representation is asked for; `nil` if there is none.
    var validator: String? {
        switch verdict {
        case .part: record.validator
        case .whole: Validators(head.headerFields).ifRangeValue
        case .changed, .refusal: nil
        }
    }

    /// Which bytes of its representation it has; `nil` if that is of no use.
    var range: Range<Int64>? {
        switch verdict {
        case .part(let range, _): range
        case .whole(let length): 0..<length
        case .changed, .refusal: nil
        }
    }

    private var completeLength: Int64? {
        switch verdict {
        case .part(_, let length): length
        case .whole(let length): length
        case .changed, .refusal: nil
        }
    }

    /// Whether it answers `ask` only with the news that the file is another one by now.
    func showsChange(to ask: TransferAsk) -> Bool { ask.hole != nil && validator != ask.validator }

    /// Whether it has all that a transfer is to bring.
    func replaces(_ transfer: TransferRecord) -> Bool {
        guard record.entry == transfer.entry, let range else { return false }
        guard let part = transfer.range else { return record.range == nil }
        return validator == transfer.validator && range.contains(part.lowerBound) && part.upperBound <= range.upperBound
    }

    /// The head of all its bytes: how many there are is known by now, however they were sent.
    private var headOfAll: HTTPResponse {
        var head = head
        if case .whole = verdict {
            head.headerFields[.transferEncoding] = nil
            head.headerFields[.contentLength] = "\(length)"
        }
        return head
    }

    /// How it answers a request; `nil` if it does not.
    func answer(to ask: TransferAsk) -> (head: HTTPResponse, part: Range<Int64>)? {
        guard record.entry == ask.entry else { return nil }
        let all = 0..<length
        guard let hole = ask.hole else {
            if case .whole = verdict { return (headOfAll, all) }
            return nil
        }
        if validator == ask.validator, let range, range.contains(hole.lowerBound) {
            let part = hole.lowerBound..<min(range.upperBound, hole.upperBound)
            var head = head
            head.status = .partialContent
            head.headerFields[.contentRange] =
                ContentRange.satisfied(part, completeLength: completeLength).description
            head.headerFields[.contentLength] = "\(part.upperBound - part.lowerBound)"
            return (head, part.lowerBound - range.lowerBound..<part.upperBound - range.lowerBound)
        }
        guard record.isOf(ask), validator != ask.validator else { return nil }
        // Says that the file is another one by now; of a part of it nothing can be used.
        guard case .changed = verdict else { return (headOfAll, all) }
        return (HTTPResponse(status: .preconditionFailed), 0..<0)
    }
}
