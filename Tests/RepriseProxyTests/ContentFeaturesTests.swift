import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// DLNA's `contentFeatures.dlna.org`, which origins send to players that ask for it.
@Suite("DLNA fields", .limit(minutes: 2)) struct ContentFeaturesTests {
    private static let features = "DLNA.ORG_OP=01;DLNA.ORG_CI=0"

    /// Publishes a film whose responses have the field if `isServed` and the request asks for it.
    private static func publish(_ site: StreamSite, etag: String?, isServed: Bool) throws {
        let wanted = try #require(HTTPField.Name("getcontentFeatures.dlna.org"))
        let name = try #require(HTTPField.Name("contentFeatures.dlna.org"))
        let personality = TestOrigin.Personality { $0.fields[name] = Self.features }
        site.origin.set(
            TestOrigin.Resource(
                .pattern(seed: 1, length: 100_000), mediaType: "video/mp4", etag: etag, lastModified: nil,
                override: { request, _ in isServed && request.fields[wanted] == "1" ? personality : nil }),
            at: "/film.mp4")
    }

    @Test(
        "a TV gets the field although another player stored the film, and the origin is asked for it once",
        arguments: ["\"v\"", nil], [true, false])
    func once(etag: String?, isServed: Bool) async throws {
        try await StreamSite.run { site async throws in
            try Self.publish(site, etag: etag, isServed: isServed)
            let name = "contentfeatures.dlna.org"
            #expect(try await site.get("/film.mp4").head.fields[name] == nil)
            for range in ["Range: bytes=0-9", "Range: bytes=0-99999"] {
                let reply = try await site.get("/film.mp4", [range, "getcontentFeatures.dlna.org: 1"])
                #expect(reply.status == 206)
                #expect(reply.head.fields[name] == (isServed ? Self.features : nil))
            }
            let methods = site.origin.snapshot["/film.mp4"].requests.map(\.method)
            #expect(methods == ["GET", "HEAD"])
        }
    }
}
