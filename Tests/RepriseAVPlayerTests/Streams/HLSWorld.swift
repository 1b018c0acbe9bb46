import Reprise
import RepriseHTTPClient
import RepriseTesting

/// An origin, and a cache that asks it.
struct HLSWorld {
    let origin: TestOrigin
    let cache: MediaCache
    /// The player's own network.
    let network: NIOOrigin

    static func run(clock: CacheClock? = nil, _ body: (HLSWorld) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        let origin = try await TestOrigin.start(wallClock: clock?.wallClock)
        let (client, network) = (NIOOrigin(), NIOOrigin())
        var configuration = MediaCache.Configuration()
        if let clock { configuration.clock = clock }
        configuration.retry.firstDelay = .milliseconds(1)
        configuration.retry.maximumDelay = .milliseconds(2)
        let cache = try await MediaCache.open(
            directory: directory.path, origin: client, configuration: configuration)
        let result: Result<Void, any Error>
        do {
            result = .success(
                try await body(HLSWorld(origin: origin, cache: cache, network: network)))
        } catch { result = .failure(error) }
        await cache.close()
        for client in [client, network] { await client.shutdown() }
        await origin.stop()
        directory.remove()
        try result.get()
    }
}
