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
    /// What is missing once its first bytes are stored.
    private static let missing = length - 65_536

    /// Takes the place of a client that has some bytes of a file, and begins no transfers at present.
    private final class KeepingOrigin: BackgroundOrigin {
        private let client: NIOOrigin
        /// `nil` as long as nothing comes.
        let arrived = Mutex<ArrivedBytes?>(nil)
        /// What the downloads say of their title.
        let told = Mutex<[String]>([])

        init(_ client: NIOOrigin) { self.client = client }

        var isInBackground: Bool { true }
        func arrivedBytes(of entry: String) -> ArrivedBytes { arrived.withLock { $0 } ?? ArrivedBytes() }
        func expectTransfers(of title: String) { told.withLock { $0.append("expect") } }
        func restTransfers(of title: String) { told.withLock { $0.append("rest") } }
        func pauseTransfers(of title: String) { told.withLock { $0.append("pause") } }
        func endTransfers(of title: String, notWithin policy: NetworkPolicy) {}
        func endTransfers(of title: String) { told.withLock { $0.append("end") } }
        func forgetTransfers(of title: String) { told.withLock { $0.append("forget") } }
        func keepTransfers(running: Set<String>, titles: Set<String>) {}

        func send(_ request: OriginRequest) async throws -> OriginResponse {
            guard request.context.errand != nil else { return try await client.send(request) }
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

    @Test(
        "what has come is stored on a disk that it has filled, and does not wait for the room that it occupies",
        arguments: [
            // While it is stored, the largest piece is there twice.
            (
                room: 3_000_000, enough: ArrivedBytes(sum: missing, largest: 1_500_000),
                tooLittle: [
                    ArrivedBytes(), ArrivedBytes(sum: missing, largest: missing),
                    ArrivedBytes(sum: missing, largest: 3_000_001),
                ]
            ),
            // Which is not more than what is missing.
            (room: 2 * missing, enough: ArrivedBytes(largest: 1 << 40), tooLittle: []),
        ] as [(Int64, ArrivedBytes, [ArrivedBytes])])
    func whatHasFilledTheDiskIsStored(room: Int64, enough: ArrivedBytes, tooLittle: [ArrivedBytes]) async throws {
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
            var told = ["expect", "rest"]
            // What an earlier process left is taken up first.
            _ = await cache.downloads.list()
            try await cache.downloads.add(film)
            // Its first bytes are stored.
            await eventually { await Self.isWaiting(cache, for: .network) }
            await eventually { origin.told.withLock { $0.count } >= told.count }
            disk.setFreeBytes { Self.floor + room }
            for arrived in tooLittle {
                origin.arrived.withLock { $0 = arrived }
                told += ["expect", "pause"]
                try await cache.downloads.resume(film.key)
                await eventually { await Self.isWaiting(cache, for: .space) }
                await eventually { origin.told.withLock { $0.count } >= told.count }
            }
            origin.arrived.withLock { $0 = enough }
            told += ["expect", "forget"]
            try await cache.downloads.resume(film.key)
            await eventually {
                if case .done? = await cache.downloads.list().first?.state { true } else { false }
            }
            await eventually { origin.told.withLock { $0.count } >= told.count }
            #expect(await cache.downloads.list().first?.storedBytes == Self.length)
            #expect(origin.told.withLock { $0 } == told)
            await cache.close()
        }
    }
}
