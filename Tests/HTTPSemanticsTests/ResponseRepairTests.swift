import HTTPSemantics
import HTTPTypes
import Testing

@Suite("What is corrected in a response that has arrived") struct ResponseRepairTests {
    private static let now = HTTPDate(secondsSince1970: 784_111_777)

    private func repaired(_ response: HTTPResponse, askedFor range: RangeSpec? = nil) -> HTTPResponse {
        var response = response
        response.repair(askedFor: range, now: Self.now)
        return response
    }

    @Test("Without a valid Date the time of arrival counts: RFC 9110 §6.6.1", arguments: [nil, "yesterday", "0", ""])
    func date(value: String?) {
        var head = response(200)
        head.headerFields[.date] = value
        #expect(repaired(head).headerFields[.date] == "Sun, 06 Nov 1994 08:49:37 GMT")
    }

    @Test(
        "A 206 without a request for a range is a 200 if its Content-Range is the whole",
        arguments: [("bytes 0-9/10", 200), ("bytes 0-9/20", 206), ("bytes 1-9/10", 206), ("bytes 0-9/*", 206)])
    func wholePart(contentRange: String, status: Int) {
        let head = repaired(response(206, [.contentRange: contentRange, .contentLength: "10"]))
        #expect(head.status.code == status)
        #expect((head.headerFields[.contentRange] == nil) == (status == 200))
    }

    @Test("A valid Date stays, also one of long ago: RFC 9110 §6.6.1")
    func validDate() {
        let head = response(200, [.date: "Sat, 05 Nov 1994 08:49:37 GMT"])
        #expect(repaired(head) == head)
    }

    @Test("With the time of arrival an old Last-Modified is strong: RFC 9110 §8.8.2.2")
    func strongDate() {
        let head = response(200, [.lastModified: "Fri, 04 Nov 1994 08:49:37 GMT"])
        #expect(!Validators(head.headerFields).isLastModifiedStrong)
        #expect(Validators(repaired(head).headerFields).isLastModifiedStrong)
    }

    @Test(
        "A 200 whose body is the requested part, as Content-Range and Content-Length say, is a 206",
        arguments: [
            (RangeSpec.bounded(500..<600), "100", "bytes 500-599/1000", 206),
            (.bounded(900..<2000), "100", "bytes 900-999/1000", 206),
            (.from(500), "500", "bytes 500-999/1000", 206),
            (.suffix(100), "100", "bytes 900-999/1000", 206),
            (.bounded(500..<600), "50", "bytes 500-549/1000", 206),
            // The whole, as its length says.
            (.bounded(500..<600), "1000", "bytes 500-599/1000", 200),
            (.from(0), "1000", "bytes 0-999/1000", 200),
            // Another part, another length, an unknown whole, and no position.
            (.bounded(500..<600), "100", "bytes 400-499/1000", 200),
            (.bounded(500..<600), "99", "bytes 500-599/1000", 200),
            (.bounded(500..<600), "100", "bytes 500-599/*", 200),
            (.bounded(500..<600), "100", "bytes */1000", 200),
        ])
    func partWithoutItsStatus(range: RangeSpec, length: String, contentRange: String, status: Int) {
        let head = response(200, [.contentLength: length, .contentRange: contentRange])
        #expect(repaired(head, askedFor: range).status.code == status)
    }

    @Test("A 200 to a request without Range, or without a length, stays one: RFC 9110 §14.4")
    func wholeStays() {
        let fields: HTTPFields = [.contentRange: "bytes 500-599/1000"]
        #expect(repaired(response(200, fields), askedFor: .bounded(500..<600)).status == .ok)
        var counted = fields
        counted[.contentLength] = "100"
        #expect(repaired(response(200, counted)).status == .ok)
    }
}
