import Foundation
import Primitives
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseURLSession

/// An app that is launched again and again, with what stays between its launches: the folders, the system's service,
/// and an origin.
final class AppRun: Sendable {
    let origin: TestOrigin
    let service: TransferService
    let directory: TemporaryDirectory
    let configuration: MediaCache.Configuration
    /// Most bytes of one transfer.
    let largestTransfer: Int64
    /// In which launches the system was told that all is dealt with, and how many transfers it had then.
    let settled = Mutex<[(launch: Int, transfers: Int)]>([])
    private let launches = Mutex(0)

    private init(
        _ origin: TestOrigin, _ service: TransferService, largest: Int64, _ configuration: MediaCache.Configuration
    )
        throws
    {
        (self.origin, self.service, self.configuration, largestTransfer) = (origin, service, configuration, largest)
        directory = try TemporaryDirectory()
    }

    /// Runs `body` with an app that has not been launched.
    static func run(
        seed: UInt64 = 1, tellsTwice: Bool = false, tellsLate: Bool = false, dropsConditions: Bool = false,
        largestTransfer: Int64 = 1 << 20,
        configure: (inout MediaCache.Configuration) -> Void = { _ in }, _ body: (AppRun) async throws -> Void
    ) async throws {
        var configuration = MediaCache.Configuration()
        configuration.retry.firstDelay = .milliseconds(1)
        configuration.retry.maximumDelay = .milliseconds(2)
        configure(&configuration)
        let origin = try await TestOrigin.start()
        let service = try TransferService(
            seed: seed, tellsTwice: tellsTwice, tellsLate: tellsLate, dropsConditions: dropsConditions)
        let app = try AppRun(origin, service, largest: largestTransfer, configuration)
        let result: Result<Void, any Error>
        do { result = .success(try await body(app)) } catch { result = .failure(error) }
        await origin.stop()
        app.directory.remove()
        try result.get()
    }

    private var root: URL { URL(fileURLWithPath: directory.path) }
    var store: String { root.appendingPathComponent("store").path }
    var arrivals: URL { root.appendingPathComponent("arrivals") }

    /// Returns when the system was told that all is dealt with in that launch; how many transfers it had then.
    func transfersWhenSettled(inLaunch launch: Int) async -> [Int] {
        await eventually { settled.withLock { $0.contains { $0.launch == launch } } }
        return settled.withLock { $0.filter { $0.launch == launch }.map(\.transfers) }
    }

    /// Names of the files that have come and are not stored yet.
    var arrivedFiles: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: arrivals.path)) ?? []).filter { $0.hasSuffix(".body") }
    }

    /// Launches the app for the duration of `body`; afterwards it is gone before the system can tell it anything more.
    func launch(_ body: (MediaCache) async throws -> Void) async throws {
        let launch = launches.withLock { launches in
            launches += 1
            return launches
        }
        let desk = TransferDesk(
            folder: arrivals, largestTransfer: largestTransfer, quietTime: .milliseconds(20)
        ) { [weak self] in
            guard let self else { return }
            let count = service.count
            settled.withLock { $0.append((launch, count)) }
        }
        service.connect(desk)
        let client = URLSessionOrigin(configuration: .init(), desk: desk)
        let cache = try await MediaCache.open(directory: store, origin: client, configuration: configuration)
        let result: Result<Void, any Error>
        do { result = .success(try await body(cache)) } catch { result = .failure(error) }
        service.disconnect()
        await cache.close()
        await client.shutdown()
        try result.get()
    }

    /// Goes on with the folders as they are now, as if the process were killed at this moment; what it does later is
    /// lost.
    func killed() throws -> AppRun {
        service.disconnect()
        let next = try AppRun(origin, service, largest: largestTransfer, configuration)
        try FileManager.default.removeItem(at: next.root)
        try FileManager.default.copyItem(at: root, to: next.root)
        return next
    }

    /// Puts pattern bytes at `path` of the origin.
    func publish(
        _ path: String, length: Int64, seed: UInt64 = 1, etag: String? = "\"v1\"",
        _ configure: (inout TestOrigin.Personality) -> Void = { _ in }
    ) {
        origin.set(
            TestOrigin.Resource(
                .pattern(seed: seed, length: length), mediaType: "video/mp4", etag: etag,
                lastModified: etag == nil ? nil : "Wed, 01 Jan 2025 00:00:00 GMT",
                personality: TestOrigin.Personality(configure)), at: path)
    }

    func download(_ path: String, in cache: MediaCache) async throws {
        try await cache.downloads.add(try cache.resource(for: origin.url(path)))
    }
}

// MARK: - What is expected of it

extension AppRun {
    /// Bytes of most films.
    static let filmLength: Int64 = 5_000_000

    /// All of a film is stored.
    func expectWhole(
        _ path: String, in cache: MediaCache, length: Int64 = filmLength, seed: UInt64 = 1
    ) async throws {
        let stored = try await cache.storedBytes(of: origin.url(path))
        #expect(stored == TestPattern.bytes(in: 0..<length, seed: seed))
    }

    /// All bytes came once.
    func expectOnce(_ path: String, length: Int64 = filmLength) async {
        let counters = await origin.settledSnapshot()[path]
        #expect(counters.bodyBytesSent == length)
        #expect(counters.bytesSentMoreThanOnce == 0)
    }

    /// All downloads come to their end, and nothing is left of their transfers.
    func expectDone(_ cache: MediaCache) async {
        await cache.downloadsAreDone()
        await expectNothingIsLeft()
    }

    func expectNothingIsLeft() async {
        await eventually { arrivedFiles.isEmpty && service.count == 0 }
        #expect(arrivedFiles.isEmpty)
        #expect(service.count == 0)
    }
}

extension MediaCache {
    /// The only download, or the one of `path`.
    func download(_ path: String? = nil) async -> Download? {
        await downloads.list().first { path == nil || $0.url.target == path }
    }

    /// Returns when all downloads are done.
    func downloadsAreDone() async {
        await eventually {
            await downloads.list().allSatisfy { if case .done = $0.state { true } else { false } }
        }
    }

    /// All bytes of `url`, without asking the origin.
    func storedBytes(of url: String) async throws -> [UInt8] {
        var resource = try resource(for: url)
        resource.networkPolicy = .never
        let read = try await resource.read()
        var bytes: [UInt8] = []
        while let more = try await read.nextBytes() { bytes += more }
        return bytes
    }
}
