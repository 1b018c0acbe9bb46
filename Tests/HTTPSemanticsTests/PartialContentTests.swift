import HTTPSemantics
import HTTPTypes
import Testing

@Suite("206 (RFC 9110 §15.3.7)") struct PartialContentTests {
    @Test("A part under the same strong tag continues the generation: RFC 9110 §15.3.7.3")
    func sameTagContinues() {
        #expect(action(for: partial("bytes 100-199/1000")) == .fill(part(100..<200)))
        #expect(
            action(for: partial("bytes 100-199/1000", [.contentLength: "100"])) == .fill(part(100..<200)))
    }

    @Test("With nothing stored a part begins a generation: RFC 9111 §3.3")
    func firstPartBeginsGeneration() {
        #expect(
            action(for: partial("bytes 100-199/1000"), stored: nil) == .newGeneration(part(100..<200), .noGeneration))
    }

    @Test("A part to a request without Range is rejected: RFC 9110 §15.3.7")
    func unrequestedPartIsRejected() {
        let request = FetchRequest()
        #expect(action(for: partial("bytes 100-199/1000"), to: request) == .reject(.unrequestedPartialContent))
        #expect(action(for: partial("bytes 0-999/1000"), to: request) == .reject(.unrequestedPartialContent))
    }

    @Test(
        "A part without a valid Content-Range is rejected: RFC 9110 §14.4, §15.3.7.1",
        arguments: [
            "", "bytes */1000", "bytes 200-100/1000", "bytes 100-199/150", "bytes=100-199/1000", "items 100-199/1000",
            "bytes 100-199/1000, bytes 100-199/1000", "bytes 100-99999999999999999999/*",
        ])
    func invalidContentRangeIsRejected(value: String) {
        #expect(action(for: partial(value)) == .reject(.invalidContentRange))
        #expect(action(for: response(206, [.eTag: "\"a\""])) == .reject(.invalidContentRange))
    }

    @Test("A part that begins elsewhere and does not cover the place is rejected: RFC 9110 §15.3.7")
    func wrongStartIsRejected() {
        #expect(action(for: partial("bytes 0-99/1000")) == .reject(.wrongStart))
        #expect(action(for: partial("bytes 101-199/1000")) == .reject(.wrongStart))
        #expect(action(for: partial("bytes 0-99/1000"), stored: nil) == .reject(.wrongStart))
        #expect(action(for: partial("bytes 500-999/1000"), to: .init(range: .from(100))) == .reject(.wrongStart))
    }

    @Test("A shared cache accepts an unrequested part if nothing is stored: RFC 9110 §15.3.7")
    func sharedCacheTakesAnyPart() {
        let shared = StoragePolicy(isShared: true)
        let other = partial("bytes 0-99/1000")
        #expect(action(for: other, stored: nil, storage: shared) == .newGeneration(part(0..<100), .noGeneration))
        #expect(action(for: other, storage: shared) == .reject(.wrongStart))
    }

    @Test("A part that begins earlier and covers the place needs a matching validator: RFC 9110 §15.3.7")
    func earlierStartNeedsValidator() {
        #expect(action(for: partial("bytes 64-255/1000")) == .fill(part(64..<256)))
        #expect(action(for: partial("bytes 64-255/1000", etag: "\"b\"")) == .reject(.wrongStart))
        #expect(action(for: partial("bytes 64-255/1000", etag: nil)) == .reject(.wrongStart))
        #expect(action(for: partial("bytes 64-255/1000"), stored: nil) == .newGeneration(part(64..<256), .noGeneration))
    }

    @Test("A part shorter than asked is accepted; the rest stays a hole: RFC 9110 §15.3.7")
    func shorterPartIsAccepted() {
        #expect(action(for: partial("bytes 100-100/1000")) == .fill(part(100..<101)))
        #expect(action(for: partial("bytes 100-149/1000"), to: .init(range: .from(100))) == .fill(part(100..<150)))
    }

    @Test("A part longer than asked ends where it declares: RFC 9110 §15.3.7")
    func longerPartEndsWhereDeclared() {
        #expect(action(for: partial("bytes 100-299/1000")) == .fill(part(100..<300)))
    }

    @Test("A part without a total keeps the known one, or none: RFC 9110 §14.4")
    func missingTotal() {
        #expect(action(for: partial("bytes 100-199/*")) == .fill(part(100..<200)))
        #expect(
            action(for: partial("bytes 100-199/*"), stored: nil)
                == .newGeneration(part(100..<200, of: nil), .noGeneration))
        #expect(
            action(for: partial("bytes 100-199/*", etag: "\"b\""))
                == .newGeneration(part(100..<200, of: nil), .validatorChanged))
        var open = storedVideo
        open.completeLength = nil
        #expect(action(for: partial("bytes 100-199/*"), stored: open) == .fill(part(100..<200, of: nil)))
        #expect(action(for: partial("bytes 100-199/1000"), stored: open) == .fill(part(100..<200)))
    }

    @Test("A part with another total begins a generation, whatever its tag and the policy: RFC 9110 §15.3.7.3")
    func otherTotalBeginsGeneration() {
        let other = ResponseAction.newGeneration(part(100..<200, of: 1001), .lengthChanged)
        #expect(action(for: partial("bytes 100-199/1001")) == other)
        #expect(action(for: partial("bytes 100-199/1001"), policy: .lengthAndDate) == other)
        #expect(action(for: partial("bytes 100-199/1001"), policy: .immutable) == other)
    }

    @Test("A part that reaches beyond the known total begins a generation: RFC 9110 §14.4")
    func partBeyondTotalBeginsGeneration() {
        #expect(
            action(for: partial("bytes 900-1000/*"), to: .init(range: .from(900)))
                == .newGeneration(part(900..<1001, of: nil), .lengthChanged))
    }

    @Test("multipart/byteranges to one range is rejected: RFC 9110 §15.3.7.2")
    func multipartIsRejected() {
        let fields: HTTPFields = [.contentType: "Multipart/ByteRanges; boundary=THIS_STRING_SEPARATES", .eTag: "\"a\""]
        #expect(action(for: response(206, fields)) == .reject(.multipart))
        #expect(action(for: partial("bytes 100-199/1000", fields)) == .reject(.multipart))
    }

    @Test(
        "Content-Length that disagrees with Content-Range is rejected: RFC 9110 §8.6, §15.3.7.1",
        arguments: ["99", "101", "1000", "0", "x", "-100", "100, 101", "99999999999999999999", ""])
    func disagreeingContentLengthIsRejected(value: String) {
        #expect(action(for: partial("bytes 100-199/1000", [.contentLength: value])) == .reject(.contentLength))
    }

    @Test("A repeated Content-Length of one value counts, and chunked overrides it: RFC 9110 §8.6, RFC 9112 §6.3")
    func toleratedContentLength() {
        #expect(action(for: partial("bytes 100-199/1000", [.contentLength: "100, 100"])) == .fill(part(100..<200)))
        let chunked: HTTPFields = [.transferEncoding: "chunked", .contentLength: "7"]
        #expect(action(for: partial("bytes 100-199/1000", chunked)) == .fill(part(100..<200)))
    }

    @Test("A suffix lies where Content-Range says: RFC 9110 §14.1.2")
    func suffixIsPlacedByContentRange() {
        let suffix = FetchRequest(range: .suffix(100))
        #expect(action(for: partial("bytes 900-999/1000"), to: suffix) == .fill(part(900..<1000)))
        #expect(action(for: partial("bytes 900-949/1000"), to: suffix) == .fill(part(900..<950)))
        #expect(action(for: partial("bytes 100-199/1000"), to: suffix) == .reject(.wrongStart))
        #expect(
            action(for: partial("bytes 0-49/50"), to: suffix, stored: nil)
                == .newGeneration(part(0..<50, of: 50), .noGeneration))
        #expect(
            action(for: partial("bytes 900-999/*"), to: suffix, stored: nil)
                == .newGeneration(part(900..<1000, of: nil), .noGeneration))
        #expect(action(for: partial("bytes 0-0/1000"), to: .init(range: .suffix(0))) == .reject(.wrongStart))
    }

    @Test("A part with another tag begins a generation, after If-Range too: RFC 9110 §13.1.5, §15.3.7.3")
    func otherTagBeginsGeneration() {
        let changed = ResponseAction.newGeneration(part(100..<200), .validatorChanged)
        #expect(action(for: partial("bytes 100-199/1000", etag: "\"b\"")) == changed)
        let conditional = FetchRequest(range: .bounded(100..<200), sentIfRange: true)
        #expect(action(for: partial("bytes 100-199/1000", etag: "\"b\""), to: conditional) == changed)
    }

    @Test("A part without its tag proves nothing: RFC 9110 §15.3.7 requires the ETag that a 200 would have")
    func missingTagProvesNothing() {
        let unproven = ResponseAction.newGeneration(part(100..<200), .noStrongValidator)
        #expect(action(for: partial("bytes 100-199/1000", etag: nil)) == unproven)
        let conditional = FetchRequest(range: .bounded(100..<200), sentIfRange: true)
        #expect(action(for: partial("bytes 100-199/1000", etag: nil), to: conditional) == unproven)
    }
}
