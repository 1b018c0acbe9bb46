import HTTPTypes
import Primitives
import Reprise
import RepriseTesting
import TestLimits
import Testing

@Suite("The run to which a background transfer belongs", .limit(minutes: 1))
struct ErrandTests {
    /// Answers what is asked while the program runs, and lets the transfers of downloads run for ever.
    private final class EndlessOrigin: BackgroundOrigin {
        let errands = Mutex<[BackgroundErrand]>([])
        private let length: Int64 = 500_000
        private let never = Promise<Void>()

        var isInBackground: Bool { true }
        func arrivedBytes(of entry: String) -> ArrivedBytes { ArrivedBytes() }
        func expectTransfers(of title: String) {}
        func restTransfers(of title: String) {}
        func pauseTransfers(of title: String) {}
        func endTransfers(of title: String, notWithin policy: NetworkPolicy) {}
        func endTransfers(of title: String) {}
        func forgetTransfers(of title: String) {}
        func keepTransfers(running: Set<String>, titles: Set<String>) {}

        func send(_ request: OriginRequest) async throws -> OriginResponse {
            if let errand = request.context.errand {
                errands.withLock { $0.append(errand) }
                try await never.wait()
            }
            let end = Int64(64 << 10)
            let head = HTTPResponse(
                status: .partialContent,
                headerFields: [
                    .contentType: "video/mp4", .eTag: "\"v1\"", .contentLength: "\(end)",
                    .contentRange: "bytes 0-\(end - 1)/\(length)",
                ])
            return OriginResponse(head: head, url: request.url, body: Body(TestPattern.bytes(in: 0..<end, seed: 1)))
        }
    }

    private final class Body: OriginBody {
        private let bytes: Mutex<[UInt8]>

        init(_ bytes: [UInt8]) { self.bytes = Mutex(bytes) }

        func next() async throws -> (any ByteChunk)? {
            let piece = bytes.withLock { bytes in
                defer { bytes = [] }
                return bytes
            }
            return piece.isEmpty ? nil : piece
        }

        func cancel() { bytes.withLock { $0 = [] } }
    }

    @Test("a download that is paused begins no transfer any more, though its request still lingers")
    func aPauseEndsTheRun() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let origin = EndlessOrigin()
        let cache = try await MediaCache.open(directory: directory.path, origin: origin)
        let film = try cache.resource(for: "https://media.example/film.mp4")
        try await cache.downloads.add(film)
        await eventually { origin.errands.withLock { $0.count } >= 1 }
        let errand = try #require(origin.errands.withLock { $0.first })
        #expect(errand.hole == 65_536..<500_000)
        #expect(!errand.isOver)
        try await cache.downloads.pause(film.key)
        #expect(errand.isOver)
        await cache.close()
    }
}
