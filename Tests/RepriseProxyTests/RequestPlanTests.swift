import HTTPSemantics
import HTTPTypes
import NIOCore
import TestLimits
import Testing

@testable import Reprise
@testable import RepriseProxy

/// The response to a request, by what is known of the representation.
@Suite("Plans for requests", .limit(minutes: 1)) struct RequestPlanTests {
    private func request(_ fields: String = "", method: String = "GET") throws -> MediaRequest {
        var parser = RequestParser()
        parser.append(ByteBuffer(string: "\(method) / HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n"))
        return MediaRequest(try #require(try parser.next()))
    }

    private func plan(_ fields: String, length: Int64? = 1000, method: String = "GET") throws -> RequestPlan {
        let response = HTTPResponse(status: .ok, headerFields: [.eTag: "\"v1\""])
        let information = ContentInformation(response: response, completeLength: length, rangesSupported: true)
        return RequestPlan(try request(fields, method: method), for: information)
    }

    @Test func withoutRangeAndConditionAllIsSent() throws {
        #expect(try plan("") == .send(nil))
        #expect(try plan("Range: pages=1-2\r\n") == .send(nil))
    }

    @Test func oneRangeIsSentAsItIsAskedFor() throws {
        #expect(try plan("Range: bytes=10-19\r\n") == .send(.bounded(10..<20)))
        #expect(try plan("Range: bytes=10-19\r\n", method: "HEAD") == .send(nil), "RFC 9110 §14.2")
    }

    @Test("several ranges become parts, if they lie apart and the length is known (RFC 9110 §15.3.7.2)")
    func parts() throws {
        let two = "Range: bytes=0-9,20-29\r\n"
        #expect(try plan(two) == .sendParts([.bounded(0..<10), .bounded(20..<30)]))
        #expect(try plan(two, length: nil) == .send(nil))
        #expect(try plan("Range: bytes=0-9,5-29\r\n") == .send(nil), "they overlap")
        #expect(try plan("Range: bytes=0-9,2000-\r\n") == .send(.bounded(0..<10)), "one of them exists")
        let many = (0..<65).map { "\(10 * $0)-\(10 * $0)" }.joined(separator: ",")
        #expect(try plan("Range: bytes=\(many)\r\n") == .send(nil))
    }

    @Test("conditions come before ranges (RFC 9110 §13.2.2)")
    func conditions() throws {
        #expect(try plan("If-None-Match: \"v1\"\r\nRange: bytes=0-9\r\n") == .notModified)
        #expect(try plan("If-Match: \"v2\"\r\nRange: bytes=0-9\r\n") == .preconditionFailed)
        #expect(try plan("If-Range: \"v1\"\r\nRange: bytes=0-9\r\n") == .send(.bounded(0..<10)))
        #expect(try plan("If-Range: \"v2\"\r\nRange: bytes=0-9\r\n") == .send(nil))
    }

    @Test func aConditionThatCannotBeJudgedYetDecidesNothing() throws {
        let request = try request("If-None-Match: \"v1\"\r\nRange: bytes=0-9\r\n")
        #expect(request.isConditional)
        #expect(RequestPlan(request, for: nil) == .send(.bounded(0..<10)))
    }
}
