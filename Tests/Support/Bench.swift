public import HTTPSemantics
public import Reprise
public import RepriseHTTPClient
public import RepriseTesting
import TestLimits

/// A cache in its own directory, with a real loopback origin.
public final class Bench: Sendable {
    /// The origin.
    public let origin: TestOrigin
    /// The client through which the cache asks the origin.
    public let client: NIOOrigin
    /// The directory of the cache.
    public let directory: TemporaryDirectory
    /// The cache.
    public let cache: MediaCache

    private init(origin: TestOrigin, client: NIOOrigin, directory: TemporaryDirectory, cache: MediaCache) {
        self.origin = origin
        self.client = client
        self.directory = directory
        self.cache = cache
    }

    /// Runs `body` with a new cache, which asks the layers that `wrapping` puts over the client, and takes everything
    /// down afterwards.
    public static func run(
        sendBufferSize: Int? = nil, isStoring: Bool = true, client: NIOOrigin = .patient(),
        configure: (inout MediaCache.Configuration) -> Void = { _ in },
        wrapping: (NIOOrigin) -> any Origin = { $0 },
        _ body: (Bench) async throws -> Void
    ) async throws {
        var configuration = MediaCache.Configuration()
        configuration.retry.firstDelay = .milliseconds(1)
        configuration.retry.maximumDelay = .milliseconds(2)
        // On a busy machine, readers may not run for seconds.
        configuration.parkingTime = .seconds(600)
        configure(&configuration)
        let origin = try await TestOrigin.start(
            sendBufferSize: sendBufferSize, wallClock: configuration.clock.wallClock)
        let directory = try TemporaryDirectory()
        let cache =
            isStoring
            ? try await MediaCache.open(
                directory: directory.path, origin: wrapping(client), configuration: configuration)
            : MediaCache.withoutStore(origin: wrapping(client), configuration: configuration)
        let bench = Bench(origin: origin, client: client, directory: directory, cache: cache)
        let result: Result<Void, any Error>
        do { result = .success(try await body(bench)) } catch { result = .failure(error) }
        await cache.close()
        await client.shutdown()
        await origin.stop()
        directory.remove()
        try result.get()
    }

    /// Closes this cache and opens another one in its directory, for the duration of `body`.
    public func reopened(
        configure: (inout MediaCache.Configuration) -> Void = { _ in }, _ body: (MediaCache) async throws -> Void
    ) async throws {
        await cache.close()
        var configuration = MediaCache.Configuration()
        configure(&configuration)
        let again = try await MediaCache.open(directory: directory.path, origin: client, configuration: configuration)
        let result: Result<Void, any Error>
        do { result = .success(try await body(again)) } catch { result = .failure(error) }
        await again.close()
        try result.get()
    }

    /// Reads `range` of the resource at `path` to its end.
    public func bytes(_ path: String, _ range: RangeSpec? = nil) async throws -> [UInt8] {
        try await cache.resource(for: origin.url(path)).read(range).collect()
    }

    /// Puts pattern bytes at `path` of the origin.
    public func publish(
        _ path: String, length: Int64, seed: UInt64 = 1, etag: String? = "\"v1\"", type: String = "video/mp4",
        _ configure: (inout TestOrigin.Personality) -> Void = { _ in }
    ) {
        origin.set(
            TestOrigin.Resource(
                .pattern(seed: seed, length: length), mediaType: type, etag: etag,
                lastModified: etag == nil ? nil : "Wed, 01 Jan 2025 00:00:00 GMT",
                personality: TestOrigin.Personality(configure)), at: path)
    }
}

extension MediaCache {
    /// Returns when nothing is being read, fetched or opened.
    public func becomeIdle() async {
        await eventually { isIdle }
    }
}

extension MediaRead {
    /// All bytes of the read.
    public func collect() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let more = try await nextBytes() { bytes += more }
        return bytes
    }

    /// Reads to the end without examining the bytes; returns their number.
    public func drain() async throws -> Int64 {
        var count: Int64 = 0
        while let piece = try await next() { count += Int64(piece.count) }
        return count
    }
}

extension NIOOrigin {
    /// A client without a time limit that a busy machine could exceed; `change` sets those that a test is about.
    public static func patient(_ change: (inout Configuration) -> Void = { _ in }) -> NIOOrigin {
        var configuration = Configuration()
        configuration.connectTimeout = .seconds(600)
        configuration.responseTimeout = .seconds(600)
        configuration.idleTimeout = .seconds(600)
        configuration.queueTimeout = .seconds(600)
        configuration.parkingTime = .seconds(600)
        change(&configuration)
        return NIOOrigin(configuration: configuration)
    }
}
