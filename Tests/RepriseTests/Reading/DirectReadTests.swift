import HTTPSemantics
import Primitives
import TestLimits
import Testing

@testable import Reprise

/// Bodies that bypass the store, including some that no origin can really send.
@Suite(.limit(minutes: 1)) struct DirectReadTests {
    /// This many bytes, none of which exist.
    private struct Claim: ByteChunk {
        let count: Int

        func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
            try body(UnsafeRawBufferPointer(start: nil, count: 0))
        }
    }

    /// A body of pieces of these sizes.
    private final class Body: OriginBody {
        private let counts: Mutex<[Int]>
        private let cancellations = Mutex(0)

        init(_ counts: [Int]) { self.counts = Mutex(counts) }

        var isCancelled: Bool { cancellations.withLock { $0 > 0 } }

        func next() async throws -> (any ByteChunk)? {
            counts.withLock { $0.isEmpty ? nil : Claim(count: $0.removeFirst()) }
        }

        func cancel() { cancellations.withLock { $0 += 1 } }
    }

    private struct NoOrigin: Origin {
        func send(_ request: OriginRequest) async throws -> OriginResponse { throw CancellationError() }
    }

    private static let engine = Engine(
        origin: NoOrigin(), configuration: MediaCache.Configuration(), store: nil, reporter: Reporter())

    private static func stream(
        _ body: Body, start: Int64 = 0, from: Int64 = 0, to: Int64? = nil, expectedEnd: Int64? = nil
    ) throws -> DirectRead {
        DirectRead(
            body, at: BodyPlacement(start: start, end: expectedEnd), from: from, to: to,
            request: OriginRequest(url: try ResourceURL("http://localhost/")), engine: engine)
    }

    private static func counts(_ stream: DirectRead) async throws -> [Int] {
        var counts: [Int] = []
        while let chunk = try await stream.next() { counts.append(chunk.count) }
        return counts
    }

    @Test func piecesAreCutToTheWantedRange() async throws {
        let stream = try Self.stream(Body([10, 10, 10]), from: 5, to: 25, expectedEnd: 30)
        #expect(try await Self.counts(stream) == [5, 10, 5])
    }

    @Test func whatComesAfterTheDeclaredEndIsDropped() async throws {
        let body = Body([10, 10, 10])
        #expect(try await Self.counts(Self.stream(body, expectedEnd: 15)) == [10, 5])
        #expect(body.isCancelled)
    }

    @Test func surplusDoesNotStandForMissingBytes() async throws {
        let stream = try Self.stream(Body([10, 10, 10]), to: 30, expectedEnd: 15)
        let error = await #expect(throws: RepriseError.self) { try await Self.counts(stream) }
        #expect(error?.code == .originBodyTruncated)
    }

    @Test func surplusBehindTheLimitOverflowsNothing() async throws {
        let start = Int64.largestPosition - 10
        let body = Body([1 << 53, 1 << 53])
        #expect(
            try await Self.counts(Self.stream(body, start: start, from: start, expectedEnd: .largestPosition)) == [10])
    }

    @Test func aBodyThatGoesBeyondTheLimitIsAnError() async throws {
        let stream = try Self.stream(Body([1 << 53, 1]))
        let error = await #expect(throws: RepriseError.self) { try await Self.counts(stream) }
        #expect(error?.code == .originMisbehaved)
    }
}
