import HTTPSemantics
import HTTPTypes
import NIOCore
import TestLimits
import Testing

@testable import RepriseProxy

/// Heads that are passed on unchanged.
@Suite(.limit(minutes: 1)) struct PassedResponseTests {
    private func lines(
        _ status: HTTPResponse.Status, _ fields: HTTPFields = [:], to request: String = "GET / HTTP/1.1"
    ) throws -> [String] {
        var parser = RequestParser()
        parser.append(ByteBuffer(string: request + "\r\nHost: localhost\r\n\r\n"))
        let head = try #require(try parser.next())
        let response = PassedResponse(
            HTTPResponse(status: status, headerFields: fields), to: head, status: CacheStatus(.hit),
            receivedAt: 784_111_777)
        return String(buffer: response.head).split(separator: "\r\n").map(String.init)
    }

    @Test("a head without Date gets the time of its arrival (RFC 9110 §6.6.1)")
    func date() throws {
        let lines = try lines(.ok)
        #expect(lines.contains("Date: Sun, 06 Nov 1994 08:49:37 GMT"))
        #expect(lines.contains("Via: 1.1 reprise"))
        let dated = try self.lines(.ok, [.date: "Mon, 07 Nov 1994 08:49:37 GMT"])
        #expect(dated.filter { $0.hasPrefix("Date: ") } == ["Date: Mon, 07 Nov 1994 08:49:37 GMT"])
    }

    @Test("a body without a length is sent in chunks, or ends with the connection (RFC 9112 §6.3)")
    func framing() throws {
        #expect(try lines(.ok).contains("Transfer-Encoding: chunked"))
        #expect(try lines(.ok, to: "GET / HTTP/1.0").contains("Connection: close"))
        let sized = try lines(.ok, [.contentLength: "3"])
        #expect(sized.contains("Content-Length: 3"))
        #expect(!sized.contains { $0.hasPrefix("Transfer-Encoding") || $0.hasPrefix("Connection") })
    }

    @Test("204 and 304 have no body and no length, 205 an empty body (RFC 9110 §8.6)")
    func withoutBody() throws {
        for status in [HTTPResponse.Status.noContent, .notModified] {
            let lines = try lines(status, [.contentLength: "5"])
            #expect(!lines.contains { $0.hasPrefix("Content-Length") || $0.hasPrefix("Transfer-Encoding") })
        }
        #expect(try lines(.resetContent).contains("Content-Length: 0"))
    }
}
