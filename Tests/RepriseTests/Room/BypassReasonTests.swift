import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Why a response is not stored while the disk is left alone: a download then waits for space, or fails.
@Suite(.limit(minutes: 1)) struct BypassReasonTests {
    @Test("only a full disk counts as lack of room, also after its pause", arguments: [ENOSPC, EIO])
    func reasons(code: Int32) async throws {
        let (disk, clock) = (FaultyDisk(), ShiftableClock())
        try await Bench.run(configure: {
            $0.fileSystem = disk
            $0.clock = clock.cacheClock
        }) { bench async throws in
            for path in ["/a", "/b"] { bench.publish(path, length: 100_000) }
            disk.setFault { _ in .error(code) }
            _ = try await bench.bytes("/a")
            // The next file meets the pause, not the disk.
            _ = try await bench.bytes("/b")
            clock.shift(by: Breaker.pause)
            let key = try bench.cache.resource(for: bench.origin.url("/b")).key
            let bypass = try #require(bench.cache.engine.reporter.bypass(of: key))
            #expect(bypass.isForLackOfRoom == (code == ENOSPC), "\(bypass.reason)")
        }
    }
}
