import HTTPTypes
import Testing

@testable import HTTPSemantics

/// Whether a 200 is worth what it would replace.
@Suite("Errors with status 200 (RFC 9111 §4.3.3)") struct DisguisedErrorTests {
    private static let stored = GenerationIdentity(completeLength: 5_000_000, mediaType: "video/mp2t")

    private static func answer(_ type: String?, _ length: Int64?, etag: String? = nil) -> HTTPResponse {
        var fields: HTTPFields = [:]
        (fields[.contentType], fields[.eTag]) = (type, etag)
        fields[.contentLength] = length.map { "\($0)" }
        return response(200, fields)
    }

    @Test(
        "what is shorter than a sixteenth and has no validator replaces no media",
        arguments: ["text/plain", "application/xml", "image/png", "application/octet-stream", "video/mp2t", nil])
    func short(type: String?) {
        let request = FetchRequest(sentCondition: true)
        #expect(
            action(for: Self.answer(type, 17), to: request, stored: Self.stored) == .passThrough(.unexpectedNotice))
    }

    @Test(
        "a text or a picture of any length replaces no media, unless a validator comes with it",
        arguments: ["text/plain", "text/xml", "application/soap+xml", "image/jpeg"], [100_000, nil] as [Int64?])
    func otherKind(type: String, length: Int64?) {
        #expect(
            action(for: Self.answer(type, length), to: FetchRequest(), stored: Self.stored)
                == .passThrough(.unexpectedNotice))
        #expect(
            action(for: Self.answer(type, 100_000, etag: "\"b\""), to: FetchRequest(), stored: Self.stored)
                == .newGeneration(whole(100_000), .lengthChanged))
    }

    @Test("a short text with a validator replaces no media either") func taggedText() {
        #expect(
            action(for: Self.answer("text/plain", 17, etag: "\"e\""), to: FetchRequest(), stored: Self.stored)
                == .passThrough(.unexpectedNotice))
    }

    @Test(
        "another version does: as long, of a validator, or of media that are as short",
        arguments: [(4_000_000, nil), (70_000, nil), (1000, "\"b\"")] as [(Int64, String?)])
    func version(length: Int64, etag: String?) {
        #expect(
            action(for: Self.answer("video/mp2t", length, etag: etag), to: FetchRequest(), stored: Self.stored)
                == .newGeneration(whole(length), .lengthChanged))
        let short = GenerationIdentity(completeLength: 1000, mediaType: "video/mp2t")
        #expect(
            action(for: Self.answer("video/mp2t", 900), to: FetchRequest(), stored: short)
                == .newGeneration(whole(900), .lengthChanged))
    }

    @Test("texts replace texts") func texts() {
        let text = GenerationIdentity(completeLength: 5000, mediaType: "text/vtt")
        #expect(
            action(for: Self.answer("text/plain", 17), to: FetchRequest(), stored: text)
                == .newGeneration(whole(17), .lengthChanged))
    }

    @Test("a HEAD that is answered with a text says nothing about media (RFC 9111 §4.3.5)") func head() {
        let fields: HTTPFields = [.contentType: "text/plain", .contentLength: "17"]
        #expect(Self.stored.verdict(ofHead: fields, isShared: false) == .tellsNothing)
    }
}

/// What is live now, and no file.
@Suite("Live bodies (RFC 9112 §6.3)") struct LiveResponseTests {
    private static func answer(_ more: HTTPFields, type: String? = "video/mp2t") -> HTTPResponse {
        var fields: HTTPFields = [.date: "Sat, 28 Nov 2026 08:00:00 GMT"]
        fields[.contentType] = type
        for field in more { fields.append(field) }
        return response(200, fields)
    }

    private static let icyName = HTTPField.Name("icy-name")
    private static let pragma = HTTPField.Name("Pragma")

    /// Fields of origins that want to be asked each time.
    private static let wishes: [HTTPFields] = {
        var fields: [HTTPFields] = [
            [.cacheControl: "no-cache"], [.cacheControl: "max-age=0"], [.expires: "Mon, 26 Jul 1997 05:00:00 GMT"],
            [.expires: "0"],
        ]
        if let pragma { fields.append([pragma: "no-cache"]) }
        if let icyName { fields.append([icyName: "Radio"]) }
        return fields
    }()

    @Test("no length, no validator, and a wish to be asked: passed on", arguments: wishes)
    func passedOn(fields: HTTPFields) {
        for type in ["video/mp2t", "audio/mpeg", "application/octet-stream", nil] {
            #expect(
                action(for: Self.answer(fields, type: type), to: FetchRequest(), stored: nil) == .passThrough(.live))
        }
    }

    @Test("a file, a text, and what has a length or a validator are stored", arguments: wishes)
    func stored(fields: HTTPFields) {
        func isStored(_ response: HTTPResponse, to request: FetchRequest = FetchRequest()) -> Bool {
            if case .newGeneration = action(for: response, to: request, stored: nil) { true } else { false }
        }
        #expect(isStored(Self.answer(fields), to: FetchRequest(isForFile: true)))
        #expect(isStored(Self.answer(fields, type: "application/vnd.apple.mpegurl")))
        var tagged = fields
        tagged[.eTag] = "\"a\""
        #expect(isStored(Self.answer(tagged)))
        var dated = fields
        dated[.lastModified] = "Fri, 27 Nov 2026 08:00:00 GMT"
        #expect(isStored(Self.answer(dated)))
        var measured = fields
        measured[.contentLength] = "1000"
        let isRadio = Self.icyName.map { fields[$0] != nil } ?? false
        #expect(isStored(Self.answer(measured)) == !isRadio)
    }

    @Test("without such a wish it is stored", arguments: [[:], [.cacheControl: "max-age=60"]] as [HTTPFields])
    func noWish(fields: HTTPFields) {
        #expect(
            action(for: Self.answer(fields), to: FetchRequest(), stored: nil)
                == .newGeneration(whole(nil), .noGeneration))
    }
}

/// What the first bytes of a body show.
@Suite("The beginning of a body") struct BodyBeginningTests {
    @Test(
        "texts, whatever their language",
        arguments: ["FAILED TO CONNECT", "<?xml version=\"1.0\"?>\r\n<Error/>", "#EXTM3U\n", "Нет сигнала", "接続できません"])
    func texts(text: String) { #expect(BodyBeginning(Array(text.utf8)) == .text) }

    @Test("a text whose last character is cut")
    func cut() { #expect(BodyBeginning(Array("接続できません".utf8.dropLast())) == .text) }

    @Test("Latin-1") func latin() { #expect(BodyBeginning(Array("Canal ferm".utf8) + [0xE9]) == .text) }

    @Test(
        "pictures",
        arguments: [[0x89, 0x50, 0x4E, 0x47, 13, 10], [0xFF, 0xD8, 0xFF, 0xE0], Array("GIF89a".utf8)] as [[UInt8]])
    func pictures(bytes: [UInt8]) { #expect(BodyBeginning(bytes) == .picture) }

    /// The first bytes of MP4 (ISO/IEC 14496-12), a transport stream (ISO/IEC 13818-1), Matroska, ID3 and ADTS.
    @Test(
        "containers of media",
        arguments: [
            [0, 0, 0, 0x18, 0x66, 0x74, 0x79, 0x70], [0x47, 0x40, 0x11, 0x10, 0], [0x1A, 0x45, 0xDF, 0xA3, 0x9F],
            [0x49, 0x44, 0x33, 3, 0, 0], [0xFF, 0xF1, 0x50, 0x80, 0x02, 0x1F, 0xFC],
        ] as [[UInt8]])
    func containers(bytes: [UInt8]) { #expect(BodyBeginning(bytes) == .binary) }

    @Test("nothing") func nothing() { #expect(BodyBeginning([]) == nil) }
}

/// Which answers are claims about the end of a file.
@Suite("Ranges that depend on the end (RFC 9110 §14.1.2)") struct RangeEndTests {
    @Test(
        arguments: [
            (.bounded(0..<1000), false), (.bounded(0..<1001), true), (.bounded(1000..<1001), true), (.from(0), false),
            (.from(999), false), (.from(1000), true), (.suffix(1), true),
        ] as [(RangeSpec, Bool)])
    func ranges(range: RangeSpec, depends: Bool) { #expect(range.dependsOnEnd(completeLength: 1000) == depends) }
}
