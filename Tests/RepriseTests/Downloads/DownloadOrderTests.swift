import Primitives
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Commands for the same downloads, given at once from many threads.
@Suite(.limit(minutes: 2)) struct DownloadOrderTests {
    /// Takes the place of a client without a network that transfers in the background.
    private final class AwayOrigin: BackgroundOrigin {
        /// What the downloads said last of each title.
        let told = Mutex<[String: String]>([:])

        private func note(_ word: String, _ title: String) { told.withLock { $0[title] = word } }

        var isInBackground: Bool { true }
        func arrivedBytes(of entry: String) -> ArrivedBytes { ArrivedBytes() }
        func expectTransfers(of title: String) { note("expect", title) }
        func restTransfers(of title: String) { note("rest", title) }
        func pauseTransfers(of title: String) { note("pause", title) }
        func endTransfers(of title: String, notWithin policy: NetworkPolicy) {}
        func endTransfers(of title: String) { note("end", title) }
        func forgetTransfers(of title: String) { note("forget", title) }
        func keepTransfers(running: Set<String>, titles: Set<String>) {}

        func send(_ request: OriginRequest) async throws -> OriginResponse {
            throw RepriseError(.originUnreachable, "There is no network.")
        }
    }

    private static func word(_ item: DownloadQueue.Item?) -> String {
        switch item?.phase {
        case .waiting: "rest"
        case .paused: "pause"
        case nil: "forget"
        default: "something that ends soon"
        }
    }

    @Test("whatever comes first, the records say what the downloads do, and so does what the client was told last")
    func commandsAtOnce() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let origin = AwayOrigin()
        var configuration = MediaCache.Configuration()
        configuration.retry.attempts = 0
        let cache = try await MediaCache.open(
            directory: directory.path, origin: origin, configuration: configuration)
        let index = try #require(cache.engine.store?.index)
        let files = try (0..<4).map { try cache.resource(for: "http://origin/\($0)") }
        for round in 0..<60 {
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<16 {
                    let file = files[(number + round) % files.count]
                    group.addTask {
                        switch (number * 7 + round) % 5 {
                        case 0, 1: try? await cache.downloads.add(file)
                        case 2: try? await cache.downloads.pause(file.key)
                        case 3: try? await cache.downloads.resume(file.key)
                        default:
                            if number % 3 == 0 {
                                _ = try? await cache.downloads.remove(file.key)
                            } else {
                                try? await cache.downloads.move(file.key, before: files[number % 3].key)
                            }
                        }
                    }
                }
            }
            await eventually {
                let items = cache.downloads.items
                return files.allSatisfy { file in
                    let word = Self.word(items.first { $0.key == file.key })
                    let told = origin.told.withLock { $0[index.name(of: file.key)] }
                    return told == word || told == nil && word == "forget"
                }
            }
            let (items, recorded) = (cache.downloads.items, try index.downloads.all())
            try #require(items.map(\.key) == recorded.map(\.key), "round \(round)")
            try #require(items.map(\.isPaused) == recorded.map(\.isPaused), "round \(round)")
        }
        await cache.close()
    }
}
