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

    /// A plan without the metadata that it carries.
    private enum Step: Equatable {
        case send(RangeSpec?), sendParts([RangeSpec]), learn(RangeSpec?), notModified, preconditionFailed, other
    }

    private func step(_ plan: RequestPlan) -> Step {
        switch plan {
        case .send(let range, _): .send(range)
        case .sendParts(let parts): .sendParts(parts)
        case .learn(let range): .learn(range)
        case .sendHead(.notModified, _): .notModified
        case .sendHead(.preconditionFailed, _): .preconditionFailed
        case .sendHead: .other
        }
    }

    private let information = ContentInformation(
        response: HTTPResponse(status: .ok, headerFields: [.eTag: "\"v1\""]), completeLength: 1000,
        rangesSupported: true)

    private func plan(_ fields: String, length: Int64? = 1000, method: String = "GET") throws -> Step {
        var information = information
        information.completeLength = length
        return step(RequestPlan(try request(fields, method: method), for: information))
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

    @Test func whatDependsOnAnUnknownRepresentationIsLearntFirst() throws {
        func step(_ fields: String) throws -> Step { self.step(RequestPlan(try request(fields), for: nil)) }
        #expect(try step("") == .send(nil))
        #expect(try step("Range: bytes=0-9\r\n") == .send(.bounded(0..<10)))
        #expect(try step("If-None-Match: \"v1\"\r\nRange: bytes=0-9\r\n") == .learn(.bounded(0..<10)))
        #expect(try step("If-Match: \"v1\"\r\n") == .learn(nil))
        #expect(try step("Range: bytes=5-9,20-29\r\n") == .learn(.bounded(5..<10)))
    }

    @Test("bytes that follow a condition are of the representation that satisfied it (RFC 9110 §13.1.5)")
    func aConditionBindsTheBytes() throws {
        var information = information
        information.generation = "1f"
        let bound = RequestPlan(try request("If-Range: \"v1\"\r\nRange: bytes=0-9\r\n"), for: information)
        guard case .send(_, let judged) = bound else {
            Issue.record("\(bound)")
            return
        }
        #expect(judged?.generation == "1f")
        guard case .send(_, nil) = RequestPlan(try request("Range: bytes=0-9\r\n"), for: information) else {
            Issue.record("bound without a condition")
            return
        }
    }
}
