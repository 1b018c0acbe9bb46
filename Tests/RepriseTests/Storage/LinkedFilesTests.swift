import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// A link in place of a data file: the file behind it is neither read nor written.
@Suite(.limit(minutes: 2)) struct LinkedFilesTests {
    enum Kind: CaseIterable { case symbolic, hard }

    /// Runs `body` with a closed cache whose only data file was replaced by a link to another file.
    private static func run(
        _ kind: Kind, stored: RangeSpecLength, _ body: (Bench) async throws -> Void
    ) async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 200_000)
            _ = try await bench.bytes("/a", stored == .whole ? nil : .bounded(0..<100_000))
            await bench.cache.close()
            let file = try #require(DiskUse.mediaFiles(of: bench.directory.path).first)
            let victim = bench.directory.path(of: "victim")
            let text = Data(repeating: 0x56, count: 150_000)
            try text.write(to: URL(fileURLWithPath: victim))
            try FileManager.default.removeItem(atPath: file)
            switch kind {
            case .symbolic: try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: victim)
            case .hard: try FileManager.default.linkItem(atPath: victim, toPath: file)
            }
            try await body(bench)
            #expect(try Data(contentsOf: URL(fileURLWithPath: victim)) == text)
        }
    }

    enum RangeSpecLength: CaseIterable { case whole, half }

    @Test("its entry counts as missing, and is fetched again", arguments: Kind.allCases, RangeSpecLength.allCases)
    func fetched(kind: Kind, stored: RangeSpecLength) async throws {
        try await Self.run(kind, stored: stored) { bench async throws in
            try await bench.reopened { cache async throws in
                let bytes = try await cache.resource(for: bench.origin.url("/a")).read().collect()
                #expect(bytes == TestPattern.bytes(in: 0..<200_000, seed: 1))
                await cache.becomeIdle()
            }
        }
    }

    @Test("removal takes the name and leaves the other file", arguments: Kind.allCases)
    func removed(kind: Kind) async throws {
        try await Self.run(kind, stored: .whole) { bench async throws in
            try await bench.reopened { cache async throws in
                try await cache.removeAll()
                #expect(DiskUse.mediaFiles(of: bench.directory.path).isEmpty)
            }
        }
    }

    @Test("it is reported as missing", arguments: Kind.allCases)
    func verified(kind: Kind) async throws {
        try await Self.run(kind, stored: .whole) { bench async throws in
            try await bench.reopened { cache async throws in
                #expect(try await cache.verify().missing.count == 1)
            }
        }
    }
}
