import HTTPTypes
import TestLimits
import Testing

@testable import Reprise
@testable import RepriseProxy

/// The metadata of a text that is sent in place of a body.
@Suite(.limit(minutes: 1)) struct EditedTextTests {
    private func text(_ text: String, fields: HTTPFields = [:]) -> EditedText {
        let response = HTTPResponse(status: .ok, headerFields: fields)
        let original = ContentInformation(response: response, completeLength: 5, rangesSupported: nil)
        return EditedText(HeldBytes(Array(text.utf8)), inPlaceOf: original)
    }

    @Test("the tag is strong, and the same for the same bytes only (RFC 9110 §8.8.1)")
    func tag() throws {
        let tag = try #require(text("a").information.validators.strongETag)
        #expect(text("a", fields: [.eTag: "W/\"v1\""]).information.validators.etag == tag)
        #expect(text("b").information.validators.etag != tag)
    }

    @Test func fieldsThatDescribeTheOriginalsBytesAreLeftOut() {
        let fields: HTTPFields = [
            .contentType: "text/plain", .lastModified: "Wed, 01 Jan 2025 00:00:00 GMT", .eTag: "\"v1\"",
            .contentRange: "bytes 0-4/5", .init("Repr-Digest")!: "sha-256=:AA==:", .cacheControl: "max-age=5",
            .date: "Wed, 01 Jan 2025 00:00:00 GMT",
        ]
        let information = text("abcdefg", fields: fields).information
        #expect(information.completeLength == 7)
        #expect(Set(information.fields.map(\.name)) == [.contentType, .cacheControl, .date])
        #expect(information.validators.lastModified == nil)
        #expect(information.validators.date == nil, "no date stands in for it (RFC 9111 §4.3.2)")
    }
}
