import NIOCore
import TestLimits
import Testing

@testable import RepriseProxy

@Suite(.limit(minutes: 1)) struct PageTargetTests {
    private static func head(_ target: String, accept: String?, method: String = "GET") throws -> ClientHead {
        var parser = RequestParser()
        let lines = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1:8090"] + (accept.map { ["Accept: " + $0] } ?? [])
        parser.append(ByteBuffer(string: lines.joined(separator: "\r\n") + "\r\n\r\n"))
        return try #require(try parser.next())
    }

    @Test(
        "a client gets the page if it prefers HTML (RFC 9110 §12.5.1)",
        arguments: [
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true), ("*/*", false), (nil, false),
            ("text/html", true), ("TEXT/HTML; charset=utf-8", true), ("text/html;q=0", false),
            ("text/plain, text/html;q=0.5", false), ("text/plain;q=0.5, text/html", true), ("text/*", false),
            ("application/json", false), ("text/html;q=x", false), ("", false),
        ]) func preference(accept: String?, isPage: Bool) throws
    {
        #expect(PageTarget.prefersHTML(accept) == isPage)
        #expect(try (PageTarget(Self.head("/", accept: accept), token: nil) == .page) == isPage)
    }

    @Test(
        "the page lies at the root only",
        arguments: [
            ("/", nil, .page), ("/?x=1", nil, .page), ("/x", nil, nil), ("//", nil, nil), ("/", "t", nil),
            ("/t", "t", .withoutSlash), ("/t/", "t", .page), ("/t/x", "t", nil), ("/u/", "t", nil), ("/t//", "t", nil),
        ] as [(String, String?, PageTarget?)]) func places(target: String, token: String?, page: PageTarget?) throws
    {
        #expect(try PageTarget(Self.head(target, accept: "text/html"), token: token) == page)
        #expect(try PageTarget(Self.head(target, accept: "text/html", method: "POST"), token: token) == nil)
    }
}
