import HTTPSemantics
import HTTPTypes
import Testing

@Suite("200 (RFC 9110 §15.3.1)") struct FullResponseTests {
    let noRange = FetchRequest()

    @Test("With nothing stored a 200 begins a generation at byte 0: RFC 9110 §15.3.1")
    func beginsGeneration() {
        #expect(
            action(for: response(200, [.contentLength: "1000"]), to: noRange, stored: nil)
                == .newGeneration(whole(1000), .noGeneration))
    }

    @Test("A 200 under the same strong tag continues the generation: RFC 9110 §15.3.7.3")
    func sameTagContinues() {
        let same = response(200, [.contentLength: "1000", .eTag: "\"a\""])
        #expect(action(for: same, to: noRange) == .fill(whole(1000)))
    }

    @Test("A 200 to a request for a part is placed at byte 0 and proves that ranges are ignored: RFC 9110 §14.2")
    func ignoredRange() {
        let same = response(200, [.contentLength: "1000", .eTag: "\"a\""])
        #expect(action(for: same) == .fill(whole(1000, ranges: false)))
        let other = response(200, [.contentLength: "1000", .eTag: "\"b\"", .acceptRanges: "bytes"])
        #expect(action(for: other) == .newGeneration(whole(1000, ranges: false), .validatorChanged))
    }

    @Test(
        "A 200 to a range that is the whole, or to a suffix, proves nothing: RFC 9110 §14.2",
        arguments: [RangeSpec.from(0), .bounded(0..<1000), .suffix(1000), .suffix(10)], ["bytes", "none", nil])
    func wholeRange(range: RangeSpec, acceptRanges: String?) {
        var same = response(200, [.contentLength: "1000", .eTag: "\"a\""])
        same.headerFields[.acceptRanges] = acceptRanges
        #expect(action(for: same, to: FetchRequest(range: range)) == .fill(whole(1000)))
    }

    @Test(
        "Accept-Ranges is no proof, and neither is its absence: RFC 9110 §14.3",
        arguments: ["bytes", "none", "seconds", ""])
    func acceptRangesTells(value: String) {
        let tagged = response(200, [.contentLength: "1000", .eTag: "\"a\"", .acceptRanges: value])
        #expect(action(for: tagged, to: noRange) == .fill(whole(1000)))
    }

    @Test("A 200 after If-Range means that the validator changed: RFC 9110 §13.1.5")
    func afterIfRange() {
        let conditional = FetchRequest(range: .bounded(100..<200), sentIfRange: true)
        let other = response(200, [.contentLength: "1000", .eTag: "\"b\""])
        #expect(action(for: other, to: conditional) == .newGeneration(whole(1000), .validatorChanged))
        let silent = response(200, [.contentLength: "1000"])
        #expect(action(for: silent, to: conditional) == .newGeneration(whole(1000), .noStrongValidator))
    }

    @Test("A 200 after If-Range under the same tag did not understand the condition: RFC 9110 §13.1.5")
    func afterIfRangeUnchanged() {
        let conditional = FetchRequest(range: .bounded(100..<200), sentIfRange: true)
        let same = response(200, [.contentLength: "1000", .eTag: "\"a\""])
        #expect(action(for: same, to: conditional) == .retryWithoutIfRange)
        #expect(
            action(for: same, to: FetchRequest(range: .from(0), sentIfRange: true)) == .fill(whole(1000)),
            "it is what was requested")
    }

    @Test("Another length begins a generation: RFC 9110 §15.3.7.3")
    func otherLength() {
        let longer = response(200, [.contentLength: "1001", .eTag: "\"a\""])
        #expect(action(for: longer, to: noRange) == .newGeneration(whole(1001), .lengthChanged))
        #expect(action(for: longer, to: noRange, policy: .immutable) == .newGeneration(whole(1001), .lengthChanged))
    }

    @Test("An empty 200 in place of media is never stored; otherwise it begins a generation: RFC 9110 §8.6")
    func emptyBody() {
        let empty = response(200, [.contentLength: "0", .eTag: "\"a\""])
        #expect(action(for: empty, to: noRange) == .passThrough(.emptyBody))
        #expect(action(for: empty, to: FetchRequest(expectsMedia: true), stored: nil) == .passThrough(.emptyBody))
        let media = response(200, [.contentLength: "0", .contentType: "video/mp4"])
        #expect(action(for: media, to: noRange, stored: nil) == .passThrough(.emptyBody))
        let text = response(200, [.contentLength: "0", .contentType: "text/plain"])
        #expect(action(for: text, to: noRange, stored: nil) == .newGeneration(whole(0), .noGeneration))
    }

    @Test(
        "An empty file that a playlist names is stored if a validator says that it is one, and not over stored media",
        arguments: [[.eTag: "\"b\""], [.lastModified: "Wed, 01 Jan 2025 00:00:00 GMT"], [:]] as [HTTPFields])
    func emptyFile(validator: HTTPFields) {
        var empty = response(200, validator)
        empty.headerFields[.contentLength] = "0"
        let named = FetchRequest(expectsMedia: true, mayBeEmpty: true)
        let isFile = !validator.isEmpty
        let expected: ResponseAction =
            isFile ? .newGeneration(whole(0), .noGeneration) : .passThrough(.emptyBody)
        #expect(action(for: empty, to: named, stored: nil) == expected)
        #expect(action(for: empty, to: FetchRequest(expectsMedia: true), stored: nil) == .passThrough(.emptyBody))
        #expect(action(for: empty, to: named) == .passThrough(.emptyBody))
        let stored = GenerationIdentity(
            validators: Validators(empty.headerFields), completeLength: 0, mediaType: "video/mp4")
        #expect(action(for: empty, to: noRange, stored: stored) != .passThrough(.emptyBody))
    }

    @Test("Without a length the end is unknown; the total may be known from before: RFC 9112 §6.3")
    func unknownLength() {
        let chunked: HTTPFields = [.transferEncoding: "chunked", .eTag: "\"a\""]
        #expect(action(for: response(200, chunked), to: noRange) == .fill(whole(nil, of: 1000)))
        #expect(
            action(for: response(200, chunked), to: noRange, stored: nil) == .newGeneration(whole(nil), .noGeneration))
        #expect(
            action(for: response(200, [.transferEncoding: "chunked"]), to: noRange)
                == .newGeneration(whole(nil), .noStrongValidator))
    }

    @Test(
        "An invalid Content-Length is rejected: RFC 9110 §8.6",
        arguments: ["x", "-1", "1, 2", "9223372036854775808", "1.0", "", "0x10", " "])
    func invalidContentLength(value: String) {
        #expect(action(for: response(200, [.contentLength: value]), to: noRange) == .reject(.contentLength))
    }

    @Test("Without a strong validator a new 200 never joins older bytes: RFC 9110 §15.3.7.3")
    func noValidator() {
        let plain = response(200, [.contentLength: "1000"])
        #expect(
            action(for: plain, to: noRange, stored: storedUnvalidated)
                == .newGeneration(whole(1000), .noStrongValidator))
        #expect(action(for: plain, to: noRange, stored: storedUnvalidated, policy: .immutable) == .fill(whole(1000)))
    }

    @Test(
        "An invalid Content-Range in a 200, or one that fits the whole, means nothing: RFC 9110 §14.4",
        arguments: ["bytes 100-199/5", "bytes */1000", "bytes 0-999/1000", "bytes 100-199/1000", "x"])
    func contentRangeIsIgnored(value: String) {
        let odd = response(200, [.contentLength: "1000", .eTag: "\"a\"", .contentRange: value])
        #expect(action(for: odd, to: noRange) == .fill(whole(1000)))
        #expect(action(for: odd, to: FetchRequest(range: .from(0))) == .fill(whole(1000)))
    }

    @Test("A 200 that says that it is a part has no known place, and is not stored: RFC 9110 §14.4")
    func partWithoutItsStatus() {
        func odd(_ length: String?, _ value: String) -> HTTPResponse {
            var fields: HTTPFields = [.contentRange: value, .eTag: "\"a\""]
            fields[length == nil ? .transferEncoding : .contentLength] = length ?? "chunked"
            return response(200, fields)
        }
        for stored in [storedVideo, nil] {
            // The body is the part, but no range was requested.
            #expect(
                action(for: odd("100", "bytes 500-599/1000"), to: noRange, stored: stored)
                    == .passThrough(.contradictoryRange))
            // Neither as long as the part nor as the whole, or of unknown length.
            for response in [
                odd("99", "bytes 100-199/1000"), odd(nil, "bytes 100-199/1000"), odd("100", "bytes 100-199/*"),
            ] {
                #expect(action(for: response, stored: stored) == .passThrough(.contradictoryRange))
            }
        }
    }
}
