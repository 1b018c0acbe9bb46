import Foundation
import Reprise
import RepriseAVPlayer
import RepriseTesting
import Testing

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
    }
}
