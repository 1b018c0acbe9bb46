import Reprise
import RepriseProxy
import RepriseTesting
import TestSupport

/// A proxy in front of an origin with a stream, and a clock that the test advances.
struct StreamSite {
    static let hls = "application/vnd.apple.mpegurl"

    let proxy: ProxyBench
    let clock: ShiftableClock

    static func run(
        isShared: Bool = false, limit: Int64? = nil, keyPolicy: CacheKeyPolicy = .url,
        configure: (inout MediaCache.Configuration) -> Void = { _ in },
        _ body: (StreamSite) async throws -> Void
    ) async throws {
        let clock = ShiftableClock()
        try await ProxyBench.run(
            configureProxy: { $0.clock = clock.cacheClock },
            configure: {
                $0.clock = clock.cacheClock
                $0.reuse.isShared = isShared
                $0.keyPolicy = keyPolicy
                if let limit { $0.limit = limit }
                configure(&$0)
            }
        ) { try await body(StreamSite(proxy: $0, clock: clock)) }
    }

    var origin: TestOrigin { proxy.bench.origin }

    /// The number of requests that the origin got for `path`.
    func requests(_ path: String) -> Int { origin.snapshot[path].requests.count }

    /// Puts a text at `path` of the origin, without a lifetime unless `control` gives one.
    func publish(
        _ text: String, at path: String, type: String? = hls, etag: String? = "\"v\"", control: String? = nil,
        _ more: (inout TestOrigin.Personality) -> Void = { _ in }
    ) {
        let personality = TestOrigin.Personality {
            $0.fields[.cacheControl] = control
            more(&$0)
        }
        origin.set(
            TestOrigin.Resource(.bytes(Array(text.utf8)), mediaType: type, etag: etag, personality: personality),
            at: path)
    }

    /// Puts a segment of pattern bytes at `path` of the origin.
    func publishSegment(
        _ path: String, length: Int64 = 1000, seed: UInt64 = 1, control: String? = nil,
        _ more: (inout TestOrigin.Personality) -> Void = { _ in }
    ) {
        proxy.bench.publish(path, length: length, seed: seed, etag: "\"\(seed)\"", type: "video/mp2t") {
            $0.fields[.cacheControl] = control
            more(&$0)
        }
    }

    /// The resource at `path` answers with `status` from now on.
    func fail(_ path: String, with status: Int) {
        origin.set(TestOrigin.Resource(.bytes([]), personality: .failing(with: status)), at: path)
    }

    struct Reply {
        let head: RawClient.Head
        let body: [UInt8]
        var status: Int { head.status }
        var text: String { String(decoding: body, as: UTF8.self) }
        var cache: String { head.fields["cache-status"] ?? "none" }
    }

    func get(_ path: String, _ fields: [String] = [], method: String = "GET") async throws -> Reply {
        let (head, body) = try await proxy.get(path, fields, method: method)
        return Reply(head: head, body: body)
    }

    /// A media playlist.
    static func list(
        _ segments: [String], sequence: Int = 0, target: Int = 6, type: String? = nil, ended: Bool = false,
        more: String = ""
    ) -> String {
        "#EXTM3U\n#EXT-X-TARGETDURATION:\(target)\n#EXT-X-MEDIA-SEQUENCE:\(sequence)\n"
            + (type.map { "#EXT-X-PLAYLIST-TYPE:\($0)\n" } ?? "") + more
            + segments.map { "#EXTINF:\(target),\n\($0)\n" }.joined() + (ended ? "#EXT-X-ENDLIST\n" : "")
    }
}
