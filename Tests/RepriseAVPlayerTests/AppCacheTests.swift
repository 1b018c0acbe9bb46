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
            let folder = URL(fileURLWithPath: directory.path(of: "deep/below"))
            let cache = await MediaCache.forPlayback(directory: folder)
            #expect(cache.isStoring)
            let second = await MediaCache.forPlayback(directory: folder)
            #expect(second === cache, "the same one, which closes with its last user")
            await second.close()
            await cache.close()
            let file = try directory.write([1], to: "file")
            let third = await MediaCache.forPlayback(directory: URL(fileURLWithPath: file))
            #expect(!third.isStoring)
            await third.close()
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
