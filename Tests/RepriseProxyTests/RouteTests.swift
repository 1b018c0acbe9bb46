import Reprise
import TestLimits
import Testing

@testable import RepriseProxy

/// Where request targets lead.
@Suite(.limit(minutes: 1)) struct RouteTests {
    private func url(_ target: String, token: String? = nil) throws -> String? {
        guard case .resource(let url) = try Route(target: target, token: token) else { return nil }
        return "\(url)"
    }

    @Test(arguments: [
        ("/https/host/path?a=b", "https://host/path?a=b"), ("/http/host:81/x", "http://host:81/x"),
        ("/https://host/x", "https://host/x"), ("/HTTPS/host/x", "https://host/x"),
        ("/http/host/a%2Fb%20c", "http://host/a%2Fb%20c"),
    ])
    func aTargetNamesAURL(target: String, url: String) throws {
        #expect(try self.url(target) == url)
    }

    @Test func theRootIsTheIndexPage() throws {
        guard case .index = try Route(target: "/", token: nil) else {
            Issue.record("not the index")
            return
        }
    }

    @Test(arguments: ["https://host/x", "/ftp/host/x", "/http/host/../x", "/http/host/%2e%2e/x", "/http//"])
    func anythingElseIsRefusedAndTheConnectionStays(target: String) throws {
        let refusal = #expect(throws: Refusal.self) { try Route(target: target, token: nil) }
        #expect(refusal?.status == 400)
        #expect(refusal?.endsConnection == false)
    }

    @Test func theTokenStandsBeforeEverything() throws {
        #expect(try url("/secret/https/host/x", token: "secret") == "https://host/x")
        for target in ["/https/host/x", "/secre/https/host/x", "/secrets/https/host/x", "/"] {
            let refusal = #expect(throws: Refusal.self) { try Route(target: target, token: "secret") }
            #expect(refusal?.status == 403, "\(target)")
        }
    }
}
