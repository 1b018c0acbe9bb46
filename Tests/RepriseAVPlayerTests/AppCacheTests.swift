import Foundation
import Reprise
import RepriseTesting
import Testing
@testable import RepriseAVPlayer

extension VirtualClockTests {
    /// The cache that an app opens.
    @Suite struct AppCacheTests {
        @Test func theCacheOfAnAppOpensAndWhereItCannotStoresNothing() async throws {
            let directory = try TemporaryDirectory()
            let key = [UInt8](repeating: 0x42, count: 32)
            let folder = URL(fileURLWithPath: directory.path(of: "deep/below"))
            let cache = await MediaCache.forPlayback(directory: folder)
            #expect(cache.isStoring && cache.storeProblem == nil)
            let second = await MediaCache.forPlayback(directory: folder)
            #expect(second === cache, "the same one, which closes with its last user")
            try await cache.retain(cache.resource(for: "http://localhost/film.mp4"), as: .pinned(until: nil))
            await second.close()
            await cache.close()
            var configuration = MediaCache.Configuration()
            configuration.encryption = CacheEncryption(provider: KeyFile(path: try directory.write(key, to: "key")))
            let other = await MediaCache.forPlayback(directory: folder, configuration: configuration)
            #expect(!other.isStoring)
            #expect(other.storeProblem?.code == .keyUnavailable)
            await other.close()
            let file = try directory.write([1], to: "file")
            let third = await MediaCache.forPlayback(directory: URL(fileURLWithPath: file))
            #expect(!third.isStoring)
            #expect(third.storeProblem?.code == .storageUnavailable)
            await third.close()
        }

        /// As for an app that was launched before the device was unlocked for the first time.
        @Test func aFurtherCallOpensWhatCouldNotBeOpenedBefore() async throws {
            let directory = try TemporaryDirectory()
            let folder = URL(fileURLWithPath: try directory.write([1], to: "cache"))
            let early = await MediaCache.forPlayback(directory: folder)
            #expect(!early.isStoring)
            try FileManager.default.removeItem(at: folder)
            let late = await MediaCache.forPlayback(directory: folder)
            #expect(late.isStoring)
            #expect(late !== early)
            await late.close()
            await early.close()
        }

        @Test func eachAppHasADirectoryOfItsOwn() {
            let caches = URL(fileURLWithPath: "/Users/a/Library/Caches")
            let paths = [("com.example.radio", "Radio"), ("com.example.films", "Films"), (nil, "tool")].map {
                MediaCache.defaultDirectory(in: caches, bundleIdentifier: $0, processName: $1).path
            }
            #expect(
                paths == [
                    "/Users/a/Library/Caches/com.example.radio/Reprise",
                    "/Users/a/Library/Caches/com.example.films/Reprise", "/Users/a/Library/Caches/tool/Reprise",
                ])
        }
    }
}
