import HTTPTypes
import Testing

@testable import Reprise

/// How long an origin may be silent.
@Suite struct OriginPatienceTests {
    private func request(_ fields: HTTPFields = [:]) throws -> OriginRequest {
        OriginRequest(url: try ResourceURL("http://a.test/"), fields: fields)
    }

    @Test func aStoredResponseTakesThePlaceOfASilentOrigin() throws {
        let patience = OriginPatience(response: nil, idle: nil)
        #expect(patience.untilHead(of: try request()) == OriginPatience.longest)
        #expect(patience.untilHead(of: try request([.range: "bytes=9-", .ifRange: "\"1\""])) == OriginPatience.longest)
        #expect(patience.untilHead(of: try request([.ifNoneMatch: "\"1\""])) == OriginPatience.shortest)
        #expect(
            patience.untilHead(of: try request([.ifModifiedSince: "Thu, 01 Jan 1970 00:00:00 GMT"]))
                == OriginPatience.shortest)
        var replaceable = try request([.ifNoneMatch: "\"1\""])
        replaceable.context.canServeStale = true
        #expect(patience.untilHead(of: replaceable) == OriginPatience.validation)
    }

    @Test(
        "A body is waited for unless a range request can fetch the rest",
        arguments: [
            (200, [.eTag: "\"1\"", .acceptRanges: "bytes"], false), (206, [.eTag: "\"1\""], false),
            (200, [.eTag: "\"1\""], true), (200, [.eTag: "\"1\"", .acceptRanges: "none"], true),
            (200, [.eTag: "W/\"1\"", .acceptRanges: "bytes"], true), (206, [:], true), (200, [:], true),
        ] as [(Int, HTTPFields, Bool)])
    func bodies(_ status: Int, _ fields: HTTPFields, _ isLong: Bool) throws {
        let head = HTTPResponse(status: .init(code: status), headerFields: fields)
        let time = OriginPatience(response: nil, idle: nil).withinBody(of: try request(), head)
        #expect(time == (isLong ? OriginPatience.longest : OriginPatience.shortest))
    }

    @Test func whatIsSetCounts() throws {
        let patience = OriginPatience(response: .seconds(7), idle: .seconds(8), margin: .seconds(5))
        var request = try request([.ifNoneMatch: "\"1\""])
        let head = HTTPResponse(status: .partialContent, headerFields: [.eTag: "\"1\""])
        #expect(patience.untilHead(of: request) == .seconds(7))
        #expect(patience.withinBody(of: request, head) == .seconds(8))
        #expect(
            OriginPatience(response: nil, idle: nil, margin: .seconds(5)).untilHead(of: request)
                == OriginPatience.shortest + .seconds(5))
        request.longestSilence = .seconds(9)
        #expect(patience.untilHead(of: request) == .seconds(9))
        #expect(patience.withinBody(of: request, head) == .seconds(9))
    }
}
