import Primitives
import RepriseHTTPClient
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// What has come in the background occupies the disk until it is stored.
@Suite(.limit(minutes: 2)) struct ArrivedBytesTests {
    private static let length: Int64 = 8_000_000
    private static let floor: Int64 = 200_000_000
    /// Of the disk there is room for so many bytes.
    private static let room: Int64 = 3_000_000

    /// Takes the place of a client that has some bytes of a file, and begins no transfers at present.
    private final class KeepingOrigin: BackgroundOrigin {
        private let client: NIOOrigin
        /// `nil` as long as nothing comes.
        let arrived = Mutex<ArrivedBytes?>(nil)

        init(_ client: NIOOrigin) { self.client = client }

        var isInBackground: Bool { true }
        func arrivedBytes(of entry: String) -> ArrivedBytes { arrived.withLock { $0 } ?? ArrivedBytes() }
        func pauseTransfers(of title: String) {}
        func endTransfers(of title: String) {}
        func forgetTransfers(of title: String) {}
        func keepTransfers(running: Set<String>, titles: Set<String>) {}

        func send(_ request: OriginRequest) async throws -> OriginResponse {
            guard request.errand != nil else { return try await client.send(request) }
            guard arrived.withLock({ $0 }) != nil else {
                throw RepriseError(.originUnreachable, "There is no network.")
            }
            var response = try await client.send(request)
            response.onStored = {}
            return response
        }
    }

    private static func isWaiting(_ cache: MediaCache, for obstacle: Download.Obstacle) async -> Bool {
        if case .waiting(obstacle, _)? = await cache.downloads.list().first?.state { true } else { false }
    }

    @Test("what has come is stored on a disk that it has filled, and does not wait for the room that it occupies")
    func whatHasFilledTheDiskIsStored() async throws {
        try await Bench.run { bench async throws in
            bench.publish("/film", length: Self.length)
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            let (disk, origin) = (FaultyDisk(), KeepingOrigin(bench.client))
            var configuration = MediaCache.Configuration()
            (configuration.fileSystem, configuration.minimumFree) = (disk, Self.floor)
            configuration.retry.attempts = 0
            let cache = try await MediaCache.open(
                directory: directory.path, origin: origin, configuration: configuration)
            let film = try cache.resource(for: bench.origin.url("/film"))
            try await cache.downloads.add(film)
            // Its first bytes are stored.
            await eventually { await Self.isWaiting(cache, for: .network) }
            disk.setFreeBytes { Self.floor + Self.room }
            let rest = Self.length - 65_536
            // While it is stored, the largest piece is there twice.
            for largest in [rest, Self.room + 1] {
                origin.arrived.withLock { $0 = ArrivedBytes(sum: rest, largest: largest) }
                try await cache.downloads.resume(film.key)
                await eventually { await Self.isWaiting(cache, for: .space) }
            }
            origin.arrived.withLock { $0 = ArrivedBytes(sum: rest, largest: Self.room / 2) }
            try await cache.downloads.resume(film.key)
            await eventually {
                if case .done? = await cache.downloads.list().first?.state { true } else { false }
            }
            #expect(await cache.downloads.list().first?.storedBytes == Self.length)
            await cache.close()
        }
    }
}
