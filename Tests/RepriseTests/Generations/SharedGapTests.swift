import Foundation
import HTTPSemantics
import HTTPTypes
import Primitives
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// A shared cache with part of a response that has no validator: it requests the hole, and joins nothing.
@Suite(.limit(minutes: 1)) struct SharedGapTests {
    /// Answers by a script; records the requested ranges.
    private final class ScriptedOrigin: Origin {
        private let answers: Mutex<[HTTPResponse]>
        private let asked = Mutex<[String?]>([])

        init(_ answers: [HTTPResponse]) { self.answers = Mutex(answers) }

        var ranges: [String?] { asked.withLock { $0 } }

        func send(_ request: OriginRequest) async throws -> OriginResponse {
            asked.withLock { $0.append(request.fields[.range]) }
            let head = try #require(answers.withLock { $0.isEmpty ? nil : $0.removeFirst() })
            let length = try #require(head.headerFields[.contentLength].flatMap { Int($0) })
            return OriginResponse(head: head, url: request.url, body: Body(length))
        }
    }

    private final class Body: OriginBody {
        private struct Letters: ByteChunk {
            let count: Int

            func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
                try [UInt8](repeating: 0x61, count: count).withUnsafeBytes(body)
            }
        }

        private let rest: Mutex<Int>

        init(_ count: Int) { rest = Mutex(count) }

        func next() async throws -> (any ByteChunk)? {
            let count = rest.withLock { rest in
                defer { rest = 0 }
                return rest
            }
            return count == 0 ? nil : Letters(count: count)
        }

        func cancel() { rest.withLock { $0 = 0 } }
    }

    private static func response(_ status: HTTPResponse.Status, _ length: Int, part: String? = nil) -> HTTPResponse {
        var fields: HTTPFields = [
            .contentLength: "\(length)", .cacheControl: "max-age=3600", .contentType: "text/plain",
        ]
        fields[.contentRange] = part
        return HTTPResponse(status: status, headerFields: fields)
    }

    private static func run(
        _ answers: [HTTPResponse], isShared: Bool = true, _ body: (MediaResource, ScriptedOrigin) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let origin = ScriptedOrigin(answers)
        var configuration = MediaCache.Configuration()
        configuration.reuse.isShared = isShared
        let cache = try await MediaCache.open(
            directory: directory.path, origin: origin, configuration: configuration)
        let result: Result<Void, any Error>
        do { result = .success(try await body(try cache.resource(for: "http://origin/a"), origin)) } catch {
            result = .failure(error)
        }
        await cache.close()
        try result.get()
    }

    @Test("an unrequested part is passed on and stored, then its hole is requested (RFC 9110 §15.3.7)")
    func otherPart() async throws {
        try await Self.run([Self.response(.partialContent, 5, part: "bytes 0-4/10"), Self.response(.ok, 10)]) {
            resource, origin async throws in
            let read = try await resource.read(.suffix(5))
            #expect(read.start == 0)
            #expect(read.end == 5)
            #expect(try await read.drain() == 5)
            #expect(try await resource.read().drain() == 10)
            #expect(origin.ranges == ["bytes=-5", "bytes=5-"])
        }
    }

    @Test("a part without a strong validator is never joined: the whole is requested (RFC 9111 §3.4)")
    func futileGap() async throws {
        try await Self.run([
            Self.response(.partialContent, 5, part: "bytes 0-4/10"),
            Self.response(.partialContent, 5, part: "bytes 5-9/10"), Self.response(.ok, 10),
        ]) { resource, origin async throws in
            _ = try await resource.read(.bounded(0..<5)).drain()
            #expect(try await resource.read().drain() == 10)
            #expect(origin.ranges == ["bytes=0-4", "bytes=5-", nil])
        }
    }

    @Test("an unrequested part is not an answer to a player")
    func privateCache() async throws {
        try await Self.run([Self.response(.partialContent, 5, part: "bytes 0-4/10")], isShared: false) {
            resource, _ async throws in
            await #expect {
                _ = try await resource.read(.suffix(5))
            } throws: {
                ($0 as? RepriseError)?.code == .originMisbehaved
            }
        }
    }
}
