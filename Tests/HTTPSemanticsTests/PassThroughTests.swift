import HTTPSemantics
import HTTPTypes
import Testing

@Suite("Responses that must not be stored") struct PassThroughTests {
    let noRange = FetchRequest()

    func full(_ fields: HTTPFields, type: String = "video/mp4") -> HTTPResponse {
        var fields = fields
        fields[.contentLength] = "1000"
        fields[.contentType] = fields[.contentType] ?? type
        return response(200, fields)
    }

    @Test(
        "Coded content is passed through: RFC 9110 §8.4",
        arguments: ["gzip", "br", "identity, gzip", "aws-chunked,gzip", "GZIP", "utf-8, zstd"])
    func codedContent(value: String) {
        #expect(action(for: full([.contentEncoding: value]), to: noRange) == .passThrough(.contentEncoding))
        #expect(
            action(for: partial("bytes 100-199/1000", [.contentEncoding: value])) == .passThrough(.contentEncoding))
    }

    @Test("Coded text is stored unchanged if it is complete and no media is expected: RFC 9110 §8.4")
    func codedText() {
        let text: HTTPFields = [.contentEncoding: "gzip", .contentType: "text/plain"]
        #expect(action(for: full(text), to: noRange, stored: nil) == .newGeneration(whole(1000), .noGeneration))
        #expect(
            action(for: full(text), to: FetchRequest(expectsMedia: true), stored: nil)
                == .passThrough(.contentEncoding))
        #expect(action(for: partial("bytes 100-199/1000", text), stored: nil) == .passThrough(.contentEncoding))
    }

    @Test(
        "Only registered codings other than identity count: RFC 9110 §8.4.1, §5.6.1.2",
        arguments: [
            "identity", "Identity", "", "none", "None", "aws-chunked", "identity,", " , none\t,aws-chunked", "x y",
            "utf-8",
            "binary",
        ])
    func identityIsNoCoding(value: String) {
        #expect(action(for: full([.contentEncoding: value, .eTag: "\"a\""]), to: noRange) == .fill(whole(1000)))
    }

    @Test("Vary: * is passed through, other Vary is stored: RFC 9111 §4.1")
    func varyAny() {
        #expect(action(for: full([.vary: "*"]), to: noRange) == .passThrough(.varyAny))
        #expect(action(for: full([.vary: "Origin, *"]), to: noRange) == .passThrough(.varyAny))
        #expect(action(for: full([.vary: "Origin", .eTag: "\"a\""]), to: noRange) == .fill(whole(1000)))
    }

    @Test("no-store is honored by default: RFC 9111 §5.2.2.5")
    func noStore() {
        let fields: HTTPFields = [.cacheControl: "max-age=60, No-Store", .eTag: "\"a\""]
        #expect(action(for: full(fields), to: noRange) == .passThrough(.noStore))
        #expect(action(for: partial("bytes 100-199/1000", fields)) == .passThrough(.noStore))
        #expect(
            action(for: full(fields), to: noRange, storage: StoragePolicy(honorsNoStore: false)) == .fill(whole(1000)))
    }

    @Test("no-store of a request counts, and must-understand overrules that of a response: RFC 9111 §5.2.1.5, §5.2.2.3")
    func noStoreOfTheRequest() {
        let plain: HTTPFields = [.eTag: "\"a\""]
        #expect(
            action(for: full(plain), to: noRange, storage: StoragePolicy(requestForbidsStoring: true))
                == .passThrough(.noStore))
        let understood: HTTPFields = [.cacheControl: "must-understand, no-store", .eTag: "\"a\""]
        #expect(action(for: full(understood), to: noRange) == .fill(whole(1000)))
    }

    @Test("A page in place of a stored response is one, whatever it says about storing", arguments: [nil, storedVideo])
    func pageThatForbidsStoring(stored: GenerationIdentity?) {
        let playlist = GenerationIdentity(completeLength: 1000, mediaType: "application/vnd.apple.mpegurl")
        for fields: HTTPFields in [[.cacheControl: "no-store"], [.vary: "*"]] {
            let page = full(fields, type: "text/html")
            #expect(action(for: page, to: noRange, stored: stored ?? playlist) == .passThrough(.unexpectedNotice))
            #expect(action(for: page, to: noRange, stored: nil) != .passThrough(.unexpectedNotice))
        }
    }

    @Test("private is stored by one user's cache only: RFC 9111 §5.2.2.7")
    func isPrivate() {
        let fields: HTTPFields = [.cacheControl: "private", .eTag: "\"a\""]
        #expect(action(for: full(fields), to: noRange) == .fill(whole(1000)))
        #expect(
            action(for: full(fields), to: noRange, storage: StoragePolicy(isShared: true)) == .passThrough(.isPrivate))
    }

    @Test(
        "A text that sets a cookie may be one user's: a shared cache stores it only if it is allowed to",
        arguments: [
            ("text/plain", "max-age=60", false), ("application/json", "max-age=60", false),
            ("application/vnd.apple.mpegurl", "", false), ("application/dash+xml", "no-cache", false),
            ("application/vnd.apple.mpegurl", "public", true), ("text/plain", "s-maxage=60", true),
            ("video/mp4", "max-age=60", true), ("application/octet-stream", "max-age=60", true),
        ]) func textWithACookie(type: String, control: String, isStored: Bool)
    {
        let fields: HTTPFields = [.cacheControl: control, .setCookie: "a=b", .eTag: "\"a\""]
        let shared = StoragePolicy(isShared: true)
        for (storage, mayStore) in [(shared, isStored), (StoragePolicy(), true)] {
            let action = action(for: full(fields, type: type), to: noRange, stored: nil, storage: storage)
            #expect((action == .passThrough(.setsCookie)) == !mayStore)
        }
        let without: HTTPFields = [.cacheControl: control, .eTag: "\"a\""]
        let action = action(for: full(without, type: type), to: noRange, stored: nil, storage: shared)
        #expect(action != .passThrough(.setsCookie))
    }

    @Test("CDN-Cache-Control overrides Cache-Control in a shared cache only: RFC 9213 §2.1")
    func targetedFieldAllowsStoring() {
        let fields = HTTPFields([
            HTTPField(name: .eTag, value: "\"a\""), HTTPField(name: .cacheControl, value: "no-store"),
        ]).adding("CDN-Cache-Control", "max-age=60")
        #expect(action(for: full(fields), to: noRange) == .passThrough(.noStore))
        #expect(action(for: full(fields), to: noRange, storage: StoragePolicy(isShared: true)) == .fill(whole(1000)))
    }

    @Test("A body with ICY metadata in it is passed through")
    func icyMetadata() {
        let fields = HTTPFields([HTTPField(name: .eTag, value: "\"a\"")]).adding("Icy-MetaInt", "16000")
        #expect(action(for: full(fields, type: "audio/mpeg"), to: noRange) == .passThrough(.icyMetadata))
    }

    @Test(
        "HTML where media is stored is a captive portal (RFC 6585 §6.1), and JSON an error",
        arguments: [
            "text/html", "Text/HTML; charset=utf-8", "application/xhtml+xml", "application/json",
            "application/problem+json",
        ])
    func captivePortal(type: String) {
        #expect(action(for: full([:], type: type), to: noRange) == .passThrough(.unexpectedNotice))
        #expect(action(for: full([:], type: type), to: noRange, policy: .immutable) == .passThrough(.unexpectedNotice))
    }

    @Test("JSON in place of media or a playlist is an error; in place of a text it is the content")
    func json() {
        for (stored, isContent) in [
            ("application/vnd.apple.mpegurl", false), ("application/dash+xml", false), ("text/plain", true),
            ("binary/octet-stream", false),
            ("application/json", true),
        ] {
            let identity = GenerationIdentity(completeLength: 1000, mediaType: stored)
            let action = action(for: full([:], type: "application/json"), to: noRange, stored: identity)
            #expect((action != .passThrough(.unexpectedNotice)) == isContent, "\(stored)")
        }
    }

    @Test("HTML where media is expected is a captive portal even with nothing stored: RFC 6585 §6.1")
    func captivePortalAtFirst() {
        let html = full([:], type: "text/html")
        #expect(action(for: html, to: FetchRequest(expectsMedia: true), stored: nil) == .passThrough(.unexpectedNotice))
        #expect(action(for: html, to: noRange, stored: nil) == .newGeneration(whole(1000), .noGeneration))
    }

    @Test("HTML under the same strong tag, or where HTML is stored, is the content")
    func htmlThatIsTheContent() {
        #expect(action(for: full([.eTag: "\"a\""], type: "text/html"), to: noRange) == .fill(whole(1000)))
        var page = storedVideo
        page.mediaType = "text/html"
        #expect(
            action(for: full([.eTag: "\"b\""], type: "text/html"), to: noRange, stored: page)
                == .newGeneration(whole(1000), .validatorChanged))
    }

    @Test("A broken 206 is rejected before anything else is asked: RFC 9110 §15.3.7")
    func rejectionComesFirst() {
        #expect(action(for: partial("bytes 0-9/1000", [.cacheControl: "no-store"])) == .reject(.wrongStart))
    }
}
