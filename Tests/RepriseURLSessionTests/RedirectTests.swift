import Foundation
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Redirects (RFC 9110 §15.4)", .limit(minutes: 1))
struct RedirectTests {
    @Test("A redirect is followed with the URL as it is spelled", arguments: [301, 302, 303, 307, 308])
    func aRedirectIsFollowed(_ status: Int) async throws {
        try await withOrigin { origin, client in
            origin.set(resource(1_000), at: "/target")
            origin.set(
                resource(10) {
                    $0.redirect = "/target?sig=%2f+x"
                    $0.redirectStatus = status
                }, at: "/from")
            let response = try await client.get(
                origin.url("/from"), [.range: "bytes=0-99", .authorization: "Bearer x", .cookie: "a=b"])
            #expect(response.head.status == .partialContent)
            #expect(response.url.description == origin.url("/target?sig=%2f+x"))
            #expect(try await response.body.bytes() == pattern(0..<100))
            let requests = await origin.settledSnapshot().requests
            #expect(requests.map(\.target) == ["/from", "/target?sig=%2f+x"])
            #expect(requests.allSatisfy { $0.fields[.authorization] == "Bearer x" && $0.fields[.cookie] == "a=b" })
        }
    }

    @Test func credentialsStayWithTheirHost() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(1_000), at: "/target")
            origin.set(resource(10) { $0.redirect = "http://localhost:\(origin.port)/target" }, at: "/from")
            let key = try #require(HTTPField.Name("X-Api-Key"))
            let response = try await client.get(
                origin.url("/from"), [.authorization: "Bearer x", .cookie: "a=b", key: "x"])
            #expect(response.url.host == "localhost")
            #expect(try await response.body.bytes() == pattern(0..<1_000))
            let last = try #require(await origin.settledSnapshot().requests.last)
            #expect(last.path == "/target")
            #expect(last.fields[.authorization] == nil && last.fields[.cookie] == nil && last.fields[key] == nil)
        }
    }

    @Test func eachHostGetsFieldsThatAuthenticateItsOwnRequest() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(1_000), at: "/target")
            origin.set(resource(10) { $0.redirect = "/on" }, at: "/from")
            origin.set(resource(10) { $0.redirect = "http://localhost:\(origin.port)/target" }, at: "/on")
            let signing = SigningOrigin(client) { url in
                url.host == "localhost"
                    ? nil : .init(accessKeyID: "AKID", secretAccessKey: "secret", region: "us-east-1")
            }
            let response = try await signing.send(OriginRequest(url: try ResourceURL(origin.url("/from"))))
            #expect(try await response.body.bytes() == pattern(0..<1_000))
            let fields = await origin.settledSnapshot().requests.map { $0.fields[.authorization] }
            #expect(fields.map { $0?.hasPrefix("AWS4-HMAC-SHA256 Credential=AKID/") } == [true, true, nil])
            #expect(fields[0] != fields[1])
        }
    }

    @Test func aCircleIsRefusedTheSecondTime() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(10) { $0.redirectLoop = true }, at: "/loop")
            let code = await failureCode { try await client.get(origin.url("/loop")) }
            #expect(code == .originRedirectRefused)
            #expect(await origin.settledSnapshot().requestCount == 2)
        }
    }

    @Test("The system joins cookies; they are parted again")
    func joinedCookies() throws {
        let url = try #require(URL(string: "http://a/"))
        let joined = "a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/, b=2,c=; Expires=Thu, 01 Jan 2099 00:00:00 GMT"
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 302, httpVersion: nil, headerFields: ["Set-Cookie": joined]))
        let head = try ResponseHead(response, to: OriginRequest(url: try ResourceURL("http://a/")))
        #expect(
            head.response.headerFields[values: .setCookie] == [
                "a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/", "b=2",
                "c=; Expires=Thu, 01 Jan 2099 00:00:00 GMT",
            ])
    }

    @Test func aRedirectToAnotherSchemeIsRefused() async throws {
        try await withOrigin { origin, client in
            origin.set(resource(10) { $0.redirect = "ftp://127.0.0.1/a" }, at: "/a")
            let code = await failureCode { try await client.get(origin.url("/a")) }
            #expect(code == .originRedirectRefused)
        }
    }

    @Test func aRedirectWithoutATargetIsHandedBack() async throws {
        try await withOrigin { origin, client in
            for status in [300, 302] {
                origin.set(
                    resource(10) {
                        $0.status = status
                        $0.statusBody = Array("where?".utf8)
                    }, at: "/a")
                let response = try await client.get(origin.url("/a"))
                #expect(response.head.status.code == status)
                let text = try await response.body.text()
                // On Linux the system drops the body of a redirect that it cannot follow.
                #expect(text == "where?" || text.isEmpty && status == 302)
            }
        }
    }

    @Test(arguments: ["http://a/y", "ftp://a/y", "http://user@a/", "https://a:99999/"])
    func aRedirectFromTLSToAnythingElseIsRefused(_ location: String) throws {
        let request = OriginRequest(url: try ResourceURL("https://a/x"))
        do {
            _ = try Redirect.following(location, from: request)
            Issue.record("\(location) is nothing to follow")
        } catch {
            #expect(error.code == .originRedirectRefused)
        }
    }
}
