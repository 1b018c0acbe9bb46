import HTTPTypes
import Testing

@testable import HTTPSemantics

/// How a response to HEAD affects a stored one (RFC 9111 §4.3.5).
struct HeadTests {
    private static let date = "Wed, 01 Jan 2025 00:00:00 GMT"
    private static let tagged = identity([.eTag: "\"v1\"", .lastModified: date])
    private static let bare = identity([:])

    private static func identity(_ fields: HTTPFields) -> GenerationIdentity {
        GenerationIdentity(
            validators: Validators(fields), completeLength: 1000, mediaType: "audio/mpeg", finalHost: "origin")
    }

    @Test("validators that match, and a length that does not differ, freshen") func freshens() {
        #expect(Self.tagged.verdict(ofHead: [.eTag: "\"v1\""], isShared: false) == .freshens)
        #expect(Self.tagged.verdict(ofHead: [.eTag: "W/\"v1\""], isShared: false) == .freshens)
        #expect(Self.tagged.verdict(ofHead: [.lastModified: Self.date], isShared: false) == .freshens)
        #expect(Self.tagged.verdict(ofHead: [.eTag: "\"v1\"", .contentLength: "1000"], isShared: true) == .freshens)
    }

    @Test("another validator or length makes the stored response stale") func contradicts() {
        #expect(Self.tagged.verdict(ofHead: [.eTag: "\"v2\""], isShared: false) == .contradicts)
        #expect(
            Self.tagged.verdict(ofHead: [.lastModified: "Thu, 02 Jan 2025 00:00:00 GMT"], isShared: false)
                == .contradicts)
        #expect(Self.tagged.verdict(ofHead: [.eTag: "\"v1\"", .contentLength: "999"], isShared: false) == .contradicts)
        #expect(Self.bare.verdict(ofHead: [.contentLength: "999"], isShared: true) == .contradicts)
    }

    @Test("without a validator that matches nothing is freshened", arguments: [false, true]) func nothing(
        _ isShared: Bool
    ) {
        #expect(Self.tagged.verdict(ofHead: [:], isShared: isShared) == .tellsNothing)
        #expect(Self.tagged.verdict(ofHead: [.contentLength: "1000"], isShared: isShared) == .tellsNothing)
        #expect(Self.bare.verdict(ofHead: [.eTag: "\"portal\""], isShared: isShared) == .tellsNothing)
        #expect(Self.bare.verdict(ofHead: [:], isShared: isShared) == .tellsNothing)
        #expect(
            Self.identity([.lastModified: Self.date])
                .verdict(ofHead: [.eTag: "\"v\"", .lastModified: Self.date], isShared: isShared) == .tellsNothing)
    }

    @Test("a shared cache takes an equal length where there is no validator to compare") func lengths() {
        #expect(Self.bare.verdict(ofHead: [.contentLength: "1000"], isShared: true) == .freshens)
        #expect(Self.bare.verdict(ofHead: [.contentLength: "1000"], isShared: false) == .tellsNothing)
    }

    @Test("a page in place of media has no effect") func pages() {
        for fields: HTTPFields in [[:], [.eTag: "\"v1\""], [.eTag: "\"v2\""], [.contentLength: "5"]] {
            var fields = fields
            fields[.contentType] = "text/html; charset=utf-8"
            #expect(Self.tagged.verdict(ofHead: fields, isShared: true) == .tellsNothing)
        }
    }
}
