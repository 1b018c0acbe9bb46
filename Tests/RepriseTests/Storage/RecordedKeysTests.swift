import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Which of many files are stored, asked of the index at once.
@Suite(.limit(minutes: 1)) struct RecordedKeysTests {
    @Test func amongManyThoseAreFoundThatAreStoredVariantsIncluded() async throws {
        try await Bench.run { bench async throws in
            for name in ["/a", "/b"] { bench.publish(name, length: 1000) }
            bench.publish("/v", length: 1000) { $0.fields[.vary] = "Accept-Language" }
            for name in ["/a", "/b", "/v"] { _ = try await bench.bytes(name) }
            await bench.cache.becomeIdle()
            let stored = try ["/a", "/b", "/v"].map { try bench.cache.resource(for: bench.origin.url($0)).key }
            let others = (0..<1200).map { CacheKey("https://a.example/\($0)") }
            let store = try #require(bench.cache.engine.store)
            await store.recorder.flush()
            let keys = Array(others[..<700] + stored + others[700...])
            #expect(try store.index.entries.recorded(keys) == Set(stored))
            #expect(try store.index.entries.recorded(others).isEmpty && store.index.entries.recorded([]).isEmpty)
        }
    }
}
