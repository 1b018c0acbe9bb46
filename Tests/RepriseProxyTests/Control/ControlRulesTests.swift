import NIOCore
import TestLimits
import Testing

@testable import RepriseProxy

@Suite(.limit(minutes: 1)) struct ControlRulesTests {
    private static func head(_ method: String, _ fields: [String]) throws -> ClientHead {
        var parser = RequestParser()
        let lines = ["\(method) /-/status.json HTTP/1.1", "Host: 127.0.0.1:8090"] + fields
        parser.append(ByteBuffer(string: lines.joined(separator: "\r\n") + "\r\n\r\n"))
        return try #require(try parser.next())
    }

    private static func isAllowed(_ method: String, _ fields: [String], hasToken: Bool = false) throws -> Bool {
        ControlRules(hasToken: hasToken).objection(to: try head(method, fields)) == nil
    }

    private static let methods = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]

    @Test("a program that is no browser may do everything", arguments: methods) func programs(method: String) throws {
        #expect(try Self.isAllowed(method, []))
        #expect(try Self.isAllowed(method, ["User-Agent: curl/8.5.0", "Content-Type: application/json"]))
    }

    @Test("a page of another site may do nothing, with every method and type", arguments: methods)
    func foreignPages(method: String) throws {
        let sites = ["cross-site", "same-site", "none", "same-origin", "nonsense"]
        let origins = [
            "http://evil.example", "null", "http://127.0.0.1:8091", "http://127.0.0.1",
            "http://127.0.0.1:8090.evil.example",
        ]
        let types = [
            "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json",
        ]
        for hasToken in [false, true] {
            for site in sites {
                for origin in origins {
                    for type in types {
                        let fields = ["Sec-Fetch-Site: \(site)", "Origin: \(origin)", "Content-Type: \(type)"]
                        #expect(try !Self.isAllowed(method, fields, hasToken: hasToken), "\(site) \(origin) \(type)")
                    }
                }
            }
            // No-cors requests, such as those of images, name no origin.
            for site in ["cross-site", "same-site"] {
                #expect(try !Self.isAllowed(method, ["Sec-Fetch-Site: \(site)"], hasToken: hasToken))
            }
            for origin in origins {
                #expect(try !Self.isAllowed(method, ["Origin: \(origin)"], hasToken: hasToken))
            }
        }
    }

    @Test("the server's own page may read and change") func ownPage() throws {
        let own = ["Sec-Fetch-Site: same-origin", "Origin: http://127.0.0.1:8090"]
        for method in ["GET", "POST", "DELETE"] { #expect(try Self.isAllowed(method, own)) }
        // A GET of the own page has no Origin; a change always has one.
        #expect(try Self.isAllowed("GET", ["Sec-Fetch-Site: same-origin"]))
        #expect(try !Self.isAllowed("POST", ["Sec-Fetch-Site: same-origin"]))
        #expect(try Self.isAllowed("GET", ["Sec-Fetch-Site: none"]))
        #expect(try !Self.isAllowed("DELETE", ["Sec-Fetch-Site: none"]))
    }

    @Test("a browser that does not say which site asks needs a token") func oldBrowsers() throws {
        let browser = ["User-Agent: Mozilla/5.0 (X11; Linux x86_64)"]
        #expect(try !Self.isAllowed("GET", browser))
        #expect(try Self.isAllowed("GET", browser, hasToken: true))
        #expect(try !Self.isAllowed("POST", browser, hasToken: true))
        #expect(try Self.isAllowed("POST", browser + ["Origin: http://127.0.0.1:8090"], hasToken: true))
    }

    @Test("a preflight and a service worker are refused") func preflights() throws {
        let own = ["Sec-Fetch-Site: same-origin", "Origin: http://127.0.0.1:8090"]
        #expect(try !Self.isAllowed("OPTIONS", own + ["Access-Control-Request-Method: DELETE"]))
        #expect(try !Self.isAllowed("GET", ["Service-Worker: script"]))
        #expect(try !Self.isAllowed("GET", own + ["Origin: http://127.0.0.1:8090"]))
    }
}
