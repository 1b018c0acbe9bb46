import Foundation
import HTTPSemantics
import HTTPTypes
import Primitives
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// AWS Signature Version 4, against published values and a verifying origin.
@Suite(.limit(minutes: 2)) struct SigningOriginTests {
    private static let clock = CacheClock.fixed("2013-05-24T00:00:00Z")
    private static let credentials = SigningOrigin.Credentials(
        accessKeyID: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        region: "us-east-1")

    /// Sends what it gets authenticated, as clients do.
    private final class Client: Origin {
        private let received = Mutex<[OriginRequest]>([])
        var requests: [OriginRequest] { received.withLock { $0 } }

        func send(_ request: OriginRequest) async throws -> OriginResponse {
            let sent = await request.authenticated()
            received.withLock { $0.append(sent) }
            throw RepriseError(.originUnreachable, "Nothing answers.")
        }
    }

    private static func sent(
        _ url: String, method: HTTPRequest.Method = .get, _ fields: HTTPFields = [:],
        by credentials: SigningOrigin.Credentials? = credentials
    ) async throws -> OriginRequest {
        let client = Client()
        let layer = SigningOrigin(client, clock: clock) { _ in credentials }
        _ = try? await layer.send(OriginRequest(url: try ResourceURL(url), method: method, fields: fields))
        return try #require(client.requests.first)
    }

    // MARK: - Published values

    @Test(
        "AWS's test suite of the algorithm (aws-c-auth, aws-signing-test-suite/v4)",
        arguments: [
            ("/", [], "host;x-amz-date", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            (
                "/?Param2=value2&Param1=value1", [], "host;x-amz-date",
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"
            ),
            (
                "/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1", [], "host;x-amz-date",
                "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac"
            ),
            (
                "/?-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz=-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
                [], "host;x-amz-date", "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"
            ),
            (
                "/?Param1=value1", [], "host;x-amz-date",
                "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"
            ),
            ("/?ሴ=bar", [], "host;x-amz-date", "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"),
            ("/ሴ", [], "host;x-amz-date", "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"),
            (
                "/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", [], "host;x-amz-date",
                "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"
            ),
            // Paths that are not normalized.
            (
                "/example%20space/", [], "host;x-amz-date",
                "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"
            ),
            (
                "//example//", [], "host;x-amz-date",
                "87cca117541a147f6df867677d98a7d80dff226d2bfca9e4ffa899665623c7e5"
            ),
            (
                "/example/..", [], "host;x-amz-date",
                "eca7ead57bb5aa5c8e28007acd4ff04e1ff9a0ff3b237ec1554a184887ff9282"
            ),
            (
                "/", [("My-Header1", "value2"), ("My-Header1", "value2"), ("My-Header1", "value1")],
                "host;my-header1;x-amz-date", "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"
            ),
            (
                "/", [("My-Header2", "\"a   b   c\""), ("My-Header1", " value1")],
                "host;my-header1;my-header2;x-amz-date",
                "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"
            ),
            (
                "/",
                [
                    ("My-Header1", "value4"), ("My-Header1", "value1"), ("My-Header1", "value3"),
                    ("My-Header1", "value2"),
                ], "host;my-header1;x-amz-date", "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01"
            ),
            (
                "/",
                [("X-Amz-Security-Token", "6e86291e8372ff2a2260956d9b8aae1d763fbf315fa00fa31553b73ebf194267")],
                "host;x-amz-date;x-amz-security-token",
                "07ec1639c89043aa0e3e2de82b96708f198cceab042d4a97044c66dd9f74e7f8"
            ),
        ] as [(String, [(String, String)], String, String)])
    func testSuite(target: String, headers: [(String, String)], signedHeaders: String, signature: String) throws {
        let credentials = SigningOrigin.Credentials(
            accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            region: "us-east-1")
        let signer = SignatureV4(
            credentials, service: "service", at: CacheClock.fixed("2015-08-30T12:36:00Z").wallClock())
        var fields = HTTPFields()
        for (name, value) in [("X-Amz-Date", signer.time)] + headers {
            fields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        let url = try ResourceURL("https://example.amazonaws.com" + target)
        #expect(
            signer.authorization(method: .get, url: url, fields: fields)
                == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
                + "SignedHeaders=\(signedHeaders), Signature=\(signature)")
    }

    @Test(
        "The examples of GET in S3's documentation of the Authorization header",
        arguments: [
            (
                "/test.txt", "bytes=0-9", "host;range;x-amz-content-sha256;x-amz-date",
                "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
            ),
            (
                "/?lifecycle", nil, "host;x-amz-content-sha256;x-amz-date",
                "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
            ),
            (
                "/?max-keys=2&prefix=J", nil, "host;x-amz-content-sha256;x-amz-date",
                "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
            ),
        ] as [(String, String?, String, String)])
    func documentation(target: String, range: String?, signedHeaders: String, signature: String) async throws {
        var fields: HTTPFields = [.userAgent: "player", .accept: "*/*"]
        fields[.range] = range
        let sent = try await Self.sent("https://examplebucket.s3.amazonaws.com\(target)", fields)
        #expect(
            sent.fields[.authorization]
                == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
                + "SignedHeaders=\(signedHeaders), Signature=\(signature)")
        #expect(sent.fields[.amz("date")] == "20130524T000000Z" && sent.fields[.userAgent] == "player")
        #expect(
            sent.fields[.amz("content-sha256")] == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }

    // MARK: - What is signed

    @Test("The fields of a client are replaced, and those for S3 are signed") func clientFields() async throws {
        var fields: HTTPFields = [
            .authorization: "Bearer own", .amz("date"): "x", .amz("security-token"): "own",
            .amz("request-payer"): "requester",
        ]
        fields.append(HTTPField(name: .amz("date"), value: "y"))
        var sent = try await Self.sent("http://a.example:9000/b", fields)
        #expect(sent.fields[values: .amz("date")] == ["20130524T000000Z"])
        #expect(sent.fields[.amz("security-token")] == nil)
        let names = sent.fields[.authorization]?.contains(
            "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-request-payer,")
        #expect(names == true && sent.fields[values: .authorization].count == 1)
        var temporary = Self.credentials
        temporary.sessionToken = "token"
        sent = try await Self.sent("http://a.example:9000/b", fields, by: temporary)
        #expect(sent.fields[values: .amz("security-token")] == ["token"])
        #expect(sent.fields[.authorization]?.contains("x-amz-request-payer;x-amz-security-token,") == true)
        #expect("\(temporary) \(String(reflecting: temporary))".contains("token") == false)
        #expect("\(temporary) \(String(reflecting: temporary))".contains("wJalr") == false)
    }

    @Test("Other methods, presigned URLs and hosts without credentials are left alone") func unsigned() async throws {
        let own: HTTPFields = [.authorization: "Bearer own"]
        for method: HTTPRequest.Method in [.post, .put, .delete, .options] {
            #expect(try await Self.sent("https://a.example/b", method: method, own).fields == own)
        }
        for query in ["X-Amz-Signature=0", "a&X-Amz-Date=1&X-Amz%2DSignature=0", "AWSAccessKeyId=A&Signature=b"] {
            #expect(try await Self.sent("https://a.example/b?\(query)", own).fields == own)
        }
        #expect(try await Self.sent("https://a.example/b", own, by: nil).fields == own)
        #expect(try await Self.sent("https://a.example/b?x-amz-signature-x=0", method: .head, own).fields != own)
    }

    @Test("Layers for different hosts can be stacked") func stacked() async throws {
        let client = Client()
        var layers: any Origin = client
        for host in ["a.example", "b.example"] {
            layers = SigningOrigin(layers) { $0.host == host ? Self.credentials : nil }
        }
        for host in ["a.example", "b.example", "c.example"] {
            _ = try? await layers.send(OriginRequest(url: try ResourceURL("https://\(host)/")))
        }
        #expect(client.requests.map { $0.fields[.authorization] != nil } == [true, true, false])
    }

    // MARK: - A verifying origin

    /// A cache whose requests to 127.0.0.1 are signed with `secret`, and whose clock moves by hand.
    private static func run(
        secret: String = SignatureVerifier().secret, sessionToken: String? = nil,
        _ body: (Bench, SignatureVerifier, ShiftableClock) async throws -> Void
    ) async throws {
        let clock = ShiftableClock()
        var verifier = SignatureVerifier()
        (verifier.sessionToken, verifier.now) = (sessionToken, { clock.wallClock })
        let credentials = SigningOrigin.Credentials(
            accessKeyID: verifier.accessKeyID, secretAccessKey: secret, sessionToken: sessionToken,
            region: verifier.region)
        try await Bench.run(
            configure: { $0.clock = clock.cacheClock },
            wrapping: { client in
                SigningOrigin(client, clock: clock.cacheClock) { $0.host == "127.0.0.1" ? credentials : nil }
            }
        ) { bench async throws in try await body(bench, verifier, clock) }
    }

    private static func film(_ configure: (inout TestOrigin.Resource) -> Void = { _ in }) -> TestOrigin.Resource {
        var film = TestOrigin.Resource(.pattern(seed: 1, length: 100_000), mediaType: "video/mp4")
        configure(&film)
        return film
    }

    private static let everything = TestPattern.bytes(in: 0..<100_000, seed: 1)

    @Test("A read, a range, a retry and a revalidation have valid signatures", arguments: [nil, "t0ken/+=="])
    func reads(sessionToken: String?) async throws {
        try await Self.run(sessionToken: sessionToken) { bench, verifier, clock async throws in
            let film = Self.film {
                $0.fields[.cacheControl] = "max-age=60"
                // A signature of the first attempt is too old for the second one.
                $0.override = { _, attempt in
                    guard attempt == 1 else { return nil }
                    clock.shift(by: .seconds(1200))
                    return .failing(with: 503)
                }
            }
            bench.origin.set(verifier.guarding(film), at: "/film.mp4")
            let part = try await bench.bytes("/film.mp4", .bounded(50_000..<60_000))
            #expect(part == Array(Self.everything[50_000..<60_000]))
            #expect(try await bench.bytes("/film.mp4") == Self.everything)
            clock.shift(by: .seconds(86_400))
            #expect(try await bench.bytes("/film.mp4") == Self.everything)
            let requests = await bench.origin.settledSnapshot().requests
            #expect(requests.compactMap(\.status).contains(503) && requests.compactMap(\.status).contains(304))
            #expect(requests.allSatisfy { $0.status != 403 }, "\(requests.map(\.status))")
            #expect(try await bench.cache.entries().map(\.url.description) == [bench.origin.url("/film.mp4")])
        }
    }

    @Test(
        "Targets are signed as a server decodes them",
        arguments: [
            "/a%2Fb.mp4", "/a%2fb.mp4", "/a+b.mp4", "/a%2Bb.mp4", "/%E1%88%B4/ü.mp4", "/a//b.mp4", "/a%20b('!*).mp4",
            "/a;b=c,d@e:f$g.mp4", "/a.mp4?", "/a.mp4?versionId", "/a.mp4?b=&a=", "/a.mp4?b=2&a=1&b=1&a",
            "/a.mp4?prefix=x+y%20z%2B", "/a.mp4?q=a=b/c?d", "/a.mp4?&&x=1&", "/~a_b-c.mp4?%7e=%5F",
        ])
    func targets(target: String) async throws {
        try await Self.run { bench, verifier, _ async throws in
            let url = try ResourceURL(bench.origin.url(target))
            bench.origin.set(verifier.guarding(Self.film()), at: url.target)
            #expect(try await bench.bytes(target) == Self.everything)
        }
    }

    @Test("Each redirect has a signature of its own, and another host gets none") func redirects() async throws {
        try await Self.run { bench, verifier, _ async throws in
            let port = bench.origin.port
            for (path, location) in [
                ("/away", "http://localhost:\(port)/open"), ("/here", "/film.mp4?versionId=2"),
                ("/round", "http://localhost:\(port)/back"),
            ] {
                bench.origin.set(
                    verifier.guarding(Self.film { $0.personality = .init { $0.redirect = location } }), at: path)
            }
            bench.origin.set(
                Self.film { $0.personality = .init { $0.redirect = "http://127.0.0.1:\(port)/film.mp4" } }, at: "/back")
            bench.origin.set(verifier.guarding(Self.film()), at: "/film.mp4")
            bench.origin.set(Self.film(), at: "/open")
            for path in ["/away", "/here", "/round"] { #expect(try await bench.bytes(path) == Self.everything) }
            for path in ["/open", "/back"] {
                let fields = try #require(bench.origin.snapshot[path].requests.first).fields
                #expect(fields.allSatisfy { !$0.name.canonicalName.hasPrefix("x-amz-") })
                #expect(fields[.authorization] == nil)
            }
        }
    }

    @Test("A signature that is refused stores nothing") func refusal() async throws {
        try await Self.run(secret: "wrong/secret") { bench, verifier, _ async throws in
            bench.origin.set(verifier.guarding(Self.film()), at: "/film.mp4")
            let error = await #expect(throws: RepriseError.self) { try await bench.bytes("/film.mp4") }
            #expect(error?.code == .originRefused && error?.refusal?.head.status == .forbidden)
            #expect(error?.refusal?.body == Array("SignatureDoesNotMatch".utf8))
            #expect("\(error.map { "\($0)" } ?? "")".contains("wrong/secret") == false)
            #expect(try await bench.cache.entries().isEmpty)
        }
    }

    @Test("A server with another time refuses, and nothing is stored") func skew() async throws {
        try await Self.run { bench, verifier, clock async throws in
            var late = verifier
            late.now = { clock.wallClock + 1000 }
            bench.origin.set(late.guarding(Self.film()), at: "/film.mp4")
            let error = await #expect(throws: RepriseError.self) { try await bench.bytes("/film.mp4") }
            #expect(error?.refusal?.body == Array("RequestTimeTooSkewed".utf8))
            #expect(try await bench.cache.entries().isEmpty)
        }
    }
}

extension CacheClock {
    fileprivate static func fixed(_ time: String) -> CacheClock {
        let date = (try? Date(time, strategy: .iso8601)) ?? .distantPast
        return CacheClock(ManualClock()) { date }
    }
}

extension HTTPField.Name {
    fileprivate static func amz(_ rest: String) -> Self { Self("x-amz-" + rest) ?? .from }
}
