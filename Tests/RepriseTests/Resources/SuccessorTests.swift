import HTTPTypes
import Primitives
import Testing

@testable import Reprise

/// What becomes of a response that a fetch leaves to a download.
@Suite struct SuccessorTests {
    private final class Body: OriginBody {
        private let cancels = Mutex(0)
        var isCancelled: Bool { cancels.withLock { $0 } > 0 }
        func next() async throws -> (any ByteChunk)? { nil }
        func cancel() { cancels.withLock { $0 += 1 } }
    }

    private static func leave(_ body: Body, to successor: Successor) throws {
        let response = OriginResponse(
            head: HTTPResponse(status: .ok), url: try ResourceURL("http://a.example/a"), body: body)
        successor.leave(OriginAnswer(response: response, action: .refusal, interest: RequestInterest(.download)))
    }

    @Test func whatWasTakenBelongsToItsTaker() throws {
        let (successor, body) = (Successor(), Body())
        try Self.leave(body, to: successor)
        let left = try #require(successor.take())
        let isItsBody = left.response.body === body
        #expect(isItsBody)
        #expect(left.interest?.demand == .download)
        let isTakenOnce = successor.take() == nil
        #expect(isTakenOnce)
        successor.end()
        #expect(!body.isCancelled)
    }

    @Test func whatIsNotTakenIsCanceled() throws {
        let (successor, first, second, late) = (Successor(), Body(), Body(), Body())
        try Self.leave(first, to: successor)
        try Self.leave(second, to: successor)
        #expect(first.isCancelled)
        #expect(!second.isCancelled)
        successor.end()
        #expect(second.isCancelled)
        try Self.leave(late, to: successor)
        #expect(late.isCancelled, "nothing reads any more")
        let hasNothing = successor.take() == nil
        #expect(hasNothing)
    }
}
