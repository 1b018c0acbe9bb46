import Foundation
import HTTPTypes
import RepriseStreams
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// A log-in that expires once a stream is stored: the stored files play as before, whatever a later request comes to.
@Suite(.limit(minutes: 2)) struct ExpiredLogInTests {
    /// What the origin sends without a log-in.
    enum Answer: String, CaseIterable {
        case page, pageWithoutStoring, unauthorized, forbidden, notFound, gone

        var status: Int? {
            switch self {
            case .page, .pageWithoutStoring: nil
            case .unauthorized: 401
            case .forbidden: 403
            case .notFound: 404
            case .gone: 410
            }
        }
    }

    private static let length: Int64 = 50_000
    private static let lists = ["/master.m3u8", "/low.m3u8"]
    private static let others = ["/high.m3u8", "/high1.ts", "/high2.ts"]
    private static let segments = ["/low1.ts", "/low2.ts"]
    private static let best = StreamSelection(quality: .best)
    private static let smallest = StreamSelection(quality: .smallest)

    private static func publish(_ text: String, at path: String, _ bench: Bench) {
        bench.origin.set(
            TestOrigin.Resource(
                .bytes(Array(text.utf8)), mediaType: "application/vnd.apple.mpegurl", etag: "\"1\"",
                fields: [.cacheControl: "max-age=3600"]), at: path)
    }

    private static func list(_ name: String) -> String {
        "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n\(name)1.ts\n#EXTINF:4,\n\(name)2.ts\n#EXT-X-ENDLIST\n"
    }

    /// A stream of two variants of two segments each.
    private static func run(
        _ clock: ShiftableClock = ShiftableClock(), _ body: (Bench, MediaResource) async throws -> Void
    ) async throws {
        try await Bench.run(configure: {
            $0.downloadsStreams = true
            $0.clock = clock.cacheClock
        }) { bench async throws in
            let variants = ["high": 2_000_000, "low": 800_000].sorted { $0.key < $1.key }.map { name, bandwidth in
                "#EXT-X-STREAM-INF:BANDWIDTH=\(bandwidth)\n\(name).m3u8\n"
            }
            publish("#EXTM3U\n" + variants.joined(), at: "/master.m3u8", bench)
            for name in ["high", "low"] {
                publish(list(name), at: "/\(name).m3u8", bench)
                for number in 1...2 {
                    bench.publish(
                        "/\(name)\(number).ts", length: length, seed: UInt64(number), type: "video/mp2t")
                }
            }
            try await body(bench, try bench.cache.resource(for: bench.origin.url("/master.m3u8")))
        }
    }

    /// Has the origin answer all requests as it does without a log-in.
    private static func expire(_ answer: Answer, _ bench: Bench) {
        for path in lists + others + segments {
            bench.origin.set(
                TestOrigin.Resource(
                    .bytes(Array("<!DOCTYPE html>\n<html>Log in</html>".utf8)), mediaType: "text/html", etag: "\"p\"",
                    personality: TestOrigin.Personality {
                        $0.status = answer.status
                        if answer == .pageWithoutStoring { $0.fields[.cacheControl] = "no-store" }
                    }), at: path)
        }
    }

    private static func ended(_ bench: Bench, isDone: Bool) async throws -> Download {
        for await list in bench.cache.downloads.updates(every: .zero) {
            switch list.first?.state {
            case .done where isDone, .failed where !isDone, .waiting where !isDone: return try #require(list.first)
            default: continue
            }
        }
        throw RepriseError(.closed, "The cache was closed.")
    }

    private static func expectStored(_ paths: [String], _ bench: Bench) async throws {
        for path in paths {
            let text = String(decoding: try await bench.bytes(path), as: UTF8.self)
            #expect(text.hasPrefix("#EXTM3U"), "\(path): \(text.prefix(40))")
        }
        for (number, path) in segments.enumerated() {
            let bytes = try await bench.bytes(path)
            #expect(bytes == TestPattern.bytes(in: 0..<length, seed: UInt64(number + 1)), "\(path)")
        }
    }

    @Test("a download is extended in vain: what was whole is whole, and plays", arguments: Answer.allCases)
    func extended(_ answer: Answer) async throws {
        let clock = ShiftableClock()
        try await Self.run(clock) { bench, resource async throws in
            try await bench.cache.downloads.add(resource, selection: Self.smallest)
            _ = try await Self.ended(bench, isDone: true)
            // A player has looked at the other variant.
            _ = try await bench.bytes("/high.m3u8")
            Self.expire(answer, bench)
            try await bench.cache.downloads.add(resource, selection: Self.best)
            let error = try #require(try await Self.ended(bench, isDone: false).state.error)
            #expect(error.refusal?.head.status.code == answer.status, "\(error)")

            let count = await bench.origin.settledSnapshot().requestCount
            try await Self.expectStored(Self.lists + ["/high.m3u8"], bench)
            try await bench.cache.downloads.add(resource, selection: Self.smallest)
            _ = try await Self.ended(bench, isDone: true)
            #expect(await bench.origin.settledSnapshot().requestCount == count, "all of it is stored, and fresh")

            // Later the origin fails, and they are stale.
            clock.shift(by: .seconds(86_400))
            for path in Self.lists + Self.segments { bench.publish(path, length: 1) { $0.status = 503 } }
            try await Self.expectStored(Self.lists, bench)
        }
    }

    @Test("a beginning is extended in vain: its playlist plays", arguments: [Answer.page, .pageWithoutStoring])
    func extendedBeginning(_ answer: Answer) async throws {
        try await Self.run { bench, _ async throws in
            let resource = try bench.cache.resource(for: bench.origin.url("/low.m3u8"))
            try await bench.cache.retain(resource, as: .first(.seconds(3)))
            Self.expire(answer, bench)
            await #expect(throws: RepriseError.self) { try await resource.preload(.seconds(8)) }
            let count = await bench.origin.settledSnapshot().requestCount
            let text = String(decoding: try await bench.bytes("/low.m3u8"), as: UTF8.self)
            #expect(text == Self.list("low"))
            #expect(await bench.origin.settledSnapshot().requestCount == count)
        }
    }

    @Test("a list that has changed is still found where a segment is missing", arguments: [nil, 404, 410] as [Int?])
    func changed(status: Int?) async throws {
        try await Self.run { bench, resource async throws in
            try await bench.cache.downloads.add(resource, selection: Self.smallest)
            _ = try await Self.ended(bench, isDone: true)
            _ = try await bench.bytes("/high.m3u8")
            bench.origin.set(
                TestOrigin.Resource(
                    .bytes(Array(Self.list("new").utf8)), mediaType: "application/vnd.apple.mpegurl", etag: "\"2\""),
                at: "/high.m3u8")
            for number in 1...2 {
                bench.publish("/new\(number).ts", length: Self.length, type: "video/mp2t")
                bench.publish("/high\(number).ts", length: 10, type: "text/html") { $0.status = status }
            }
            try await bench.cache.downloads.add(resource, selection: Self.best)
            _ = try await Self.ended(bench, isDone: true)
            #expect(bench.origin.snapshot["/new2.ts"].bodyBytesSent == Self.length)
        }
    }
}
