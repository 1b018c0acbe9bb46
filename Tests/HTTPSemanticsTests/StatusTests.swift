import HTTPSemantics
import HTTPTypes
import Testing

@Suite("304, 412, 416 and other status codes") struct StatusTests {
    let conditional = FetchRequest(sentCondition: true)

    func unsatisfiable(_ contentRange: String?, etag: String? = nil) -> HTTPResponse {
        var fields = HTTPFields()
        fields[.contentRange] = contentRange
        fields[.eTag] = etag
        return response(416, fields)
    }

    @Test("304 to a condition keeps the bytes: RFC 9110 §15.4.5")
    func notModified() {
        #expect(action(for: response(304), to: conditional) == .notModified)
        #expect(action(for: response(304, [.eTag: "\"a\""]), to: conditional) == .notModified)
        #expect(action(for: response(304, [.eTag: "W/\"a\""]), to: conditional) == .notModified)
    }

    @Test("304 to a request without a condition is rejected: RFC 9110 §15.4.5")
    func unrequestedNotModified() {
        #expect(action(for: response(304)) == .reject(.unrequestedNotModified))
    }

    @Test("304 to If-Range alone shows that the condition was not understood: RFC 9110 §13.1.5")
    func notModifiedToIfRange() {
        let ifRangeOnly = FetchRequest(range: .from(5), sentIfRange: true)
        #expect(action(for: response(304), to: ifRangeOnly) == .retryWithoutIfRange)
    }

    @Test("304 about another state does not freshen the stored one: RFC 9111 §4.3.4")
    func notModifiedAboutAnotherState() {
        #expect(action(for: response(304, [.eTag: "\"b\""]), to: conditional) == .generationChanged(.validatorChanged))
        let dated = GenerationIdentity(validators: .init(lastModified: date("Sun, 06 Nov 1994 08:49:37 GMT")))
        let older = response(304, [.lastModified: "Sat, 05 Nov 1994 08:49:37 GMT"])
        #expect(action(for: older, to: conditional, stored: dated) == .generationChanged(.validatorChanged))
    }

    @Test("304 without anything stored answers the client's own condition: RFC 9110 §15.4.5")
    func notModifiedWithoutGeneration() {
        #expect(action(for: response(304), to: conditional, stored: nil) == .refusal)
    }

    @Test("412 means that the generation is out of date: RFC 9110 §15.5.13")
    func preconditionFailed() {
        #expect(action(for: response(412)) == .generationChanged(.preconditionFailed))
        #expect(action(for: response(412), stored: nil) == .refusal)
    }

    @Test("416 with the known length, for a range beyond it, ends the representation: RFC 9110 §15.5.17")
    func unsatisfiableAgrees() {
        let beyond = FetchRequest(range: .from(1000))
        #expect(action(for: unsatisfiable("bytes */1000"), to: beyond) == .unsatisfiable(completeLength: 1000))
        #expect(
            action(for: unsatisfiable("bytes */1000"), to: beyond, stored: nil) == .unsatisfiable(completeLength: 1000))
        var open = storedVideo
        open.completeLength = nil
        #expect(action(for: unsatisfiable("bytes */7"), to: beyond, stored: open) == .unsatisfiable(completeLength: 7))
        #expect(
            action(for: unsatisfiable("bytes */0"), to: .init(range: .from(0)), stored: nil)
                == .unsatisfiable(completeLength: 0))
        #expect(
            action(for: unsatisfiable("bytes */1000"), to: .init(range: .suffix(0)))
                == .unsatisfiable(completeLength: 1000))
    }

    @Test("416 with another length means that the generation is out of date: RFC 9110 §15.5.17")
    func unsatisfiableContradicts() {
        #expect(action(for: unsatisfiable("bytes */50")) == .generationChanged(.lengthChanged))
        #expect(action(for: unsatisfiable("bytes */2000")) == .generationChanged(.lengthChanged))
        #expect(
            action(for: unsatisfiable("bytes */1000", etag: "\"b\""), to: .init(range: .from(1000)))
                == .generationChanged(.validatorChanged))
    }

    @Test("416 is an error page: its date is its own, and a URL declared immutable does not change: RFC 9110 §8.8.2")
    func unsatisfiableWithValidatorsOfItsOwn() {
        let beyond = FetchRequest(range: .from(1000))
        let tagged = unsatisfiable("bytes */1000", etag: "\"b\"")
        #expect(
            action(for: tagged, to: beyond, policy: .immutable) == .unsatisfiable(completeLength: 1000))
        let dated = GenerationIdentity(
            validators: .init(lastModified: date("Sun, 06 Nov 1994 08:49:37 GMT")), completeLength: 1000)
        var page = unsatisfiable("bytes */1000")
        page.headerFields[.lastModified] = "Sat, 05 Nov 1994 08:49:37 GMT"
        #expect(action(for: page, to: beyond, stored: dated) == .unsatisfiable(completeLength: 1000))
    }

    @Test(
        "416 without a length is asked again without Range: RFC 9110 §15.5.17",
        arguments: [nil, "", "bytes 0-9/10", "bytes */*"])
    func unsatisfiableWithoutLength(value: String?) {
        #expect(action(for: unsatisfiable(value)) == .retryWithoutRange)
        #expect(action(for: unsatisfiable(value), stored: nil) == .retryWithoutRange)
    }

    @Test("416 to a range that its own length satisfies is asked again without Range: RFC 9110 §15.5.17")
    func unsatisfiableContradictsItself() {
        #expect(action(for: unsatisfiable("bytes */1000")) == .retryWithoutRange)
        #expect(action(for: unsatisfiable("bytes */1000"), stored: nil) == .retryWithoutRange)
    }

    @Test("416 to a request without Range is an error like any other: RFC 9110 §15.5.17")
    func unsatisfiableWithoutRange() {
        #expect(action(for: unsatisfiable("bytes */1000"), to: FetchRequest()) == .refusal)
    }

    @Test(
        "Errors and final redirects are never stored: RFC 9110 §15.4 to §15.6",
        arguments: [300, 301, 302, 303, 307, 308, 399, 400, 401, 403, 404, 410, 429, 451, 500, 502, 503, 504, 599])
    func refusals(status: Int) {
        let fields: HTTPFields = [.contentLength: "1000", .eTag: "\"a\"", .contentType: "video/mp4"]
        #expect(action(for: response(status, fields)) == .refusal)
        #expect(action(for: response(status, fields), stored: nil, policy: .immutable) == .refusal)
    }

    @Test(
        "Successes with another status are passed through: RFC 9110 §15.3",
        arguments: [201, 202, 203, 204, 205, 226, 299])
    func oddSuccesses(status: Int) {
        #expect(action(for: response(status)) == .passThrough(.unexpectedStatus))
    }

    @Test("a status beyond the classes is an error of the origin: RFC 9110 §15", arguments: [600, 999])
    func statusBeyondTheClasses(status: Int) {
        #expect(action(for: response(status)) == .refusal)
    }

    @Test(
        "1xx is not a final response, and lower codes are not responses at all: RFC 9110 §15",
        arguments: [0, 99, 100, 103, 199])
    func invalidStatus(status: Int) {
        #expect(action(for: response(status)) == .reject(.invalidStatus))
    }
}
