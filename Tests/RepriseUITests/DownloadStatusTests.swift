import Reprise
import RepriseHTTPClient
import RepriseTesting
import TestLimits
import Testing
@testable import RepriseUI

@Suite(.limit(minutes: 1)) struct DownloadStatusTests {
    private static func status(
        _ state: Download.State, _ amount: DownloadStatus.Amount = .bytes(12_300_000, of: 40_000_000),
        fraction: Double = 0.3075, rate: Double? = nil
    ) -> DownloadStatus {
        DownloadStatus(name: "Film", state: state, amount: amount, fraction: fraction, bytesPerSecond: rate)
    }

    @Test func aRunningDownloadSaysHowFarItIsAndHowFast() {
        let status = Self.status(.running, rate: 2_100_000)
        #expect(status.words == "12.3 MB of 40.0 MB, 2.10 MB/s")
        #expect(status.fraction == 0.3075)
        #expect(status.actions == [.pause, .remove])
    }

    @Test func withoutALengthThereIsNoFraction() {
        let beginning = Self.status(.running, .bytes(0, of: nil), fraction: 0)
        #expect(beginning.words == "Starting")
        #expect(beginning.fraction == nil)
        #expect(Self.status(.running, .bytes(5000, of: nil), fraction: 0).words == "5.00 kB")
        #expect(Self.status(.queued, .bytes(0, of: nil), fraction: 0).words == "Waiting for its turn")
    }

    @Test func onlyOneThatRunsShowsActivityWithoutAnEnd() {
        let error = RepriseError(.networkUnavailable, "No network.")
        let idle: [Download.State] = [.queued, .paused, .failed(error), .waiting(.network, error)]
        let shown = idle.map { Self.status($0, .bytes(0, of: nil), fraction: 0).shownFraction }
        #expect(shown == [0, 0, 0, 0])
        #expect(Self.status(.running, .bytes(0, of: nil), fraction: 0).shownFraction == nil)
        #expect(Self.status(.paused).shownFraction == 0.3075)
    }

    @Test func aStreamIsCountedByItsFiles() {
        let status = Self.status(.running, .files(3, of: 40, bytes: 12_300_000), fraction: 0.075)
        #expect(status.words == "3 of 40 files, 12.3 MB")
        #expect(status.fraction == 0.075)
    }

    @Test func onePausedOrDoneSaysSo() {
        #expect(Self.status(.paused).words == "Paused, 12.3 MB of 40.0 MB")
        #expect(Self.status(.paused).actions == [.resume, .remove])
        let done = Self.status(.done, .bytes(40_000_000, of: 40_000_000), fraction: 1)
        #expect(done.words == "Stored, 40.0 MB")
        #expect(done.actions == [.remove])
        #expect(Self.status(.done, .bytes(7, of: nil), fraction: 1).fraction == 1)
    }

    @Test(arguments: [
        (Download.Obstacle.network, "Waiting for the network"), (.authorization, "Waiting for a log-in"),
        (.space, "Waiting for room"), (.schedule, "Waiting for the hours of downloads"),
    ]) func oneThatWaitsSaysWhatFor(obstacle: Download.Obstacle, words: String) {
        let error = RepriseError(.networkUnavailable, "No network.")
        let status = Self.status(.waiting(obstacle, error))
        #expect(status.words == "\(words), 12.3 MB of 40.0 MB")
        #expect(status.actions == (obstacle == .schedule ? [.pause, .remove] : [.resume, .remove]))
    }

    @Test func oneThatFailedSaysWhy() {
        let status = Self.status(.failed(RepriseError(.originRefused, "The file is gone.")))
        #expect(status.words == "Failed: The file is gone.")
        #expect(status.actions == [.resume, .remove])
    }

    @Test(arguments: [
        ("https://example.com/films/Big%20Film.mp4?token=secret", "Big Film.mp4"),
        ("https://example.com/show/", "show"), ("https://example.com/?token=secret", "example.com"),
        ("https://example.com", "example.com"),
    ]) func aNameIsTheLastPartOfThePathWithoutTheQuery(url: String, name: String) {
        #expect(DownloadStatus.name(of: url) == name)
    }

    @Test func actionsDoWhatTheySay() async throws {
        let directory = try TemporaryDirectory()
        let origin = try await TestOrigin.start()
        origin.set(TestOrigin.Resource(.pattern(seed: 1, length: 5000)), at: "/song.mp3")
        let client = NIOOrigin()
        let cache = try await MediaCache.open(directory: directory.path, origin: client)
        let song = try cache.resource(for: origin.url("/song.mp3"))
        try await cache.downloads.add(song)
        let done = try await Self.first(of: cache) { $0.actions == [.remove] }
        #expect(done.name == "song.mp3")
        #expect(done.fraction == 1)
        #expect(done.words == "Stored, 5.00 kB")
        try await cache.downloads.perform(.remove, on: song.key)
        #expect(await cache.downloads.list().isEmpty)
        #expect(await cache.isCached(song.url) == false)

        let gone = try cache.resource(for: origin.url("/gone.mp3"))
        try await cache.downloads.add(gone)
        _ = try await Self.first(of: cache) { $0.words.hasPrefix("Failed") }
        try await cache.downloads.perform(.pause, on: gone.key)
        _ = try await Self.first(of: cache) { $0.words.hasPrefix("Paused") }
        try await cache.downloads.perform(.resume, on: gone.key)
        _ = try await Self.first(of: cache) { $0.words.hasPrefix("Failed") }
        await cache.close()
        await client.shutdown()
        await origin.stop()
        directory.remove()
    }

    /// The status of the only download, once it is as wanted.
    private static func first(
        of cache: MediaCache, where isWanted: (DownloadStatus) -> Bool
    ) async throws -> DownloadStatus {
        for await list in cache.downloads.updates() {
            if let status = list.first.map({ DownloadStatus($0) }), isWanted(status) { return status }
        }
        throw CancellationError()
    }
}
