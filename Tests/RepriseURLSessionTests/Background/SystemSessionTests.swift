import Foundation
import Primitives
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The part that talks to the system, with a session that is none of the background.
@Suite("The system's session", .limit(minutes: 1))
struct SystemSessionTests {
    @Test func aDownloadComesThroughTheSystemsTasks() async throws {
        let origin = try await TestOrigin.start()
        let directory = try TemporaryDirectory()
        origin.set(resource(1_500_000), at: "/film")
        let root = URL(fileURLWithPath: directory.path)
        let desk = TransferDesk(folder: root.appendingPathComponent("arrivals"), largestTransfer: 500_000)
        let session = SystemSession(.ephemeral, delegate: desk)
        desk.attach(session)
        let client = URLSessionOrigin(configuration: .init(), desk: desk)
        let cache = try await MediaCache.open(
            directory: root.appendingPathComponent("store").path, origin: client)
        try await cache.downloads.add(try cache.resource(for: origin.url("/film")))
        await cache.downloadsAreDone()
        let stored = try await cache.storedBytes(of: origin.url("/film"))
        #expect(stored == pattern(0..<1_500_000))
        let snapshot = await origin.settledSnapshot()
        #expect(snapshot["/film"].bytesSentMoreThanOnce == 0)
        #expect(snapshot.requestCount == 4)
        await cache.close()
        session.invalidate()
        await client.shutdown()
        await origin.stop()
        directory.remove()
    }

    @Test func transfersAreListedAndCanceled() async throws {
        let origin = try await TestOrigin.start()
        origin.set(resource(1_500_000), at: "/film")
        origin.holdHeads("/film")
        let log = EndLog()
        let session = SystemSession(.ephemeral, delegate: log)
        let url = try #require(URL(string: origin.url("/film")))
        let number = session.start(URLRequest(url: url), description: "mine")
        let listed = await session.transfers()
        #expect(listed.map(\.number) == [number])
        #expect(listed.map(\.description) == ["mine"])
        session.cancel(number)
        await eventually { log.codes.withLock { $0.count } >= 1 }
        #expect(log.codes.withLock { $0 } == [.cancelled])
        session.invalidate()
        await origin.stop()
    }

    private final class EndLog: BackgroundSessionDelegate {
        let codes = Mutex<[URLError.Code?]>([])

        func arrived(_ description: String?, response: URLResponse?, asked: URL?, file: URL) {}

        func ended(_ description: String?, asked: URL?, error: (any Error)?) {
            codes.withLock { $0.append((error as? URLError)?.code) }
        }

        func allWasTold() {}
    }
}
