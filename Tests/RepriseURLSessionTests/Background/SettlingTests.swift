import HTTPTypes
import Primitives
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseURLSession

@Suite("What has come is kept until the index has it", .limit(minutes: 1))
struct SettlingTests {
    /// Answers with all bytes, as ones that it keeps, and looks into the index when it need not keep them any more.
    private final class KeepingOrigin: Origin {
        let recorded = Mutex<[Int64]>([])
        private let directory: String
        private let bytes: [UInt8]

        init(_ bytes: [UInt8], directory: String) { (self.bytes, self.directory) = (bytes, directory) }

        func send(_ request: OriginRequest) async throws -> OriginResponse {
            let head = HTTPResponse(
                status: .ok,
                headerFields: [.contentType: "video/mp4", .eTag: "\"v1\"", .contentLength: "\(bytes.count)"])
            var response = OriginResponse(head: head, url: request.url, body: Body(bytes))
            response.onStored = { [self] in
                let inspector = try? CacheInspector(directory: directory)
                let entry = try? inspector?.entries().first
                let stored = try? entry.flatMap { try inspector?.storedRanges(of: $0) }
                recorded.withLock { $0.append(stored?.byteCount ?? -1) }
            }
            return response
        }
    }

    private final class Body: OriginBody {
        private let rest: Mutex<[UInt8]>

        init(_ bytes: [UInt8]) { rest = Mutex(bytes) }

        func next() async throws -> (any ByteChunk)? {
            let piece = rest.withLock { rest in
                let piece = Array(rest.prefix(100_000))
                rest.removeFirst(piece.count)
                return piece
            }
            return piece.isEmpty ? nil : piece
        }

        func cancel() { rest.withLock { $0 = [] } }
    }

    @Test func theClientIsToldAfterTheRecord() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let bytes = TestPattern.bytes(in: 0..<450_001, seed: 1)
        let origin = KeepingOrigin(bytes, directory: directory.path)
        let cache = try await MediaCache.open(directory: directory.path, origin: origin)
        let read = try await cache.resource(for: "https://media.example/film.mp4").read()
        var got: [UInt8] = []
        while let more = try await read.nextBytes() { got += more }
        #expect(got == bytes)
        await eventually { origin.recorded.withLock { $0.count } >= 1 }
        #expect(origin.recorded.withLock { $0 } == [450_001])
        await cache.close()
    }
}
