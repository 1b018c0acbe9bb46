import Foundation
import Playlists
import Primitives
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Playlists that stand for more than is worked through.
@Suite("Playlists beyond their budget", .limit(minutes: 1)) struct PlaylistBudgetTests {
    private typealias Site = StreamSite

    private static func body(_ site: Site, _ path: String) async throws -> GatheredBody {
        let resource = try site.proxy.bench.cache.resource(for: site.origin.url(path))
        let read = try await resource.read()
        return GatheredBody(
            bytes: try await read.collect(), information: read.information, resource: resource, prefix: "", host: "h")
    }

    /// What a filter makes of `text` with few bytes to spend, and why it makes nothing of it.
    private static func edited(
        _ text: String, at path: String, madeBytes: Int, isCanceled: Bool = false
    ) async throws -> (outcome: Result<[UInt8]?, any Error>, codes: [PlaylistError.Code], listed: Bool) {
        let codes = Mutex<[PlaylistError.Code]>([])
        var result: (Result<[UInt8]?, any Error>, Bool)?
        try await Site.run { site async throws in
            site.publish(text, at: path, type: path.hasSuffix(".mpd") ? "application/dash+xml" : Site.hls)
            let body = try await Self.body(site, path)
            let streams = StreamKnowledge(isShared: false, clock: .system)
            var limits = PlaylistLimits()
            limits.madeBytes = madeBytes
            let filter = PlaylistFilter(
                streams: streams, files: FileFinder(cache: site.proxy.bench.cache, items: nil), limits: limits
            ) { _, error in codes.withLock { $0.append(error.code) } }
            let editor = try #require(filter.editor(of: body.information, at: body.url))
            let task = Task {
                if isCanceled { withUnsafeCurrentTask { $0?.cancel() } }
                return try await editor.edit(body)
            }
            result = (await task.result, streams.part(for: nil).listed.version > 0)
        }
        let (outcome, listed) = try #require(result)
        return (outcome, codes.withLock { $0 }, listed)
    }

    private static func mpd(_ media: String) -> String {
        """
        <MPD mediaPresentationDuration="PT20000S"><Period><AdaptationSet mimeType="video/mp4"><Representation id="v">\
        <SegmentTemplate media="\(media)" duration="1"/></Representation></AdaptationSet></Period></MPD>
        """
    }

    @Test("a template that stands for more links than are made is sent as the origin sent it")
    func template() async throws {
        let text = Self.mpd("https://b.example/" + String(repeating: "l", count: 4000) + "$Number$.m4s")
        let (outcome, codes, listed) = try await Self.edited(text, at: "/film.mpd", madeBytes: 200_000)
        #expect(throws: UneditedBody.self) { try outcome.get() }
        #expect(codes == [.budgetExceeded])
        #expect(!listed, "nothing is noted of a part of its files")
        let (whole, none, known) = try await Self.edited(Self.mpd("/$Number$"), at: "/film.mpd", madeBytes: 64 << 20)
        #expect(try whole.get() != nil && none.isEmpty && known)
    }

    @Test("the work for a client that has left ends")
    func canceled() async throws {
        let (outcome, codes, _) = try await Self.edited(
            Self.mpd("/$Number$"), at: "/film.mpd", madeBytes: 64 << 20, isCanceled: true)
        #expect(throws: CancellationError.self) { try outcome.get() }
        #expect(codes.isEmpty)
    }

    @Test("Cache-Status says that a playlist was not edited, and why")
    func cacheStatus() async throws {
        try await Site.run { site async throws in
            let deep = "<MPD>" + String(repeating: "<x>", count: 70) + String(repeating: "</x>", count: 70) + "</MPD>"
            site.publish(deep, at: "/deep.mpd", type: "application/dash+xml")
            for reason in ["tooDeep", "beyond a limit when it was first read"] {
                let reply = try await site.get("/deep.mpd")
                #expect(reply.text == deep)
                #expect(reply.head.fields["cache-status"]?.contains("detail=\"not edited: \(reason)\"") == true)
            }
        }
    }

    @Test("twice as many bases and representations are at most two and a half times the work for their links")
    func links() async throws {
        try await Site.run { site async throws in
            func steps(_ count: Int) async throws -> Int {
                let path = "/\(count).mpd"
                let bases = (0..<count).map { "<BaseURL>b\($0)/</BaseURL>" }.joined()
                let representations = (0..<count).map {
                    "<Representation id=\"\($0)\"><BaseURL>r\($0)/</BaseURL><SegmentTemplate media=\"m\"/></Representation>"
                }
                site.publish(
                    "<MPD><Period>\(bases)<AdaptationSet><SegmentTemplate initialization=\"i\"/>"
                        + "\(representations.joined())</AdaptationSet></Period></MPD>", at: path,
                    type: "application/dash+xml")
                let body = try await Self.body(site, path)
                let playlist = try Playlist(body.bytes)
                var links = try ProxyLinks(playlist, of: body)
                for link in playlist.links { _ = try links.replacement(of: link) }
                return playlist.budget.spent.steps
            }
            let (once, twice) = (try await steps(100), try await steps(200))
            #expect(twice <= once * 5 / 2 && twice > once)
        }
    }

    @Test("as many playlists are worked on at a time as there are cores")
    func executor() async {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let counts = Mutex((running: 0, most: 0))
        let full = DispatchSemaphore(value: 0)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<cores * 4 {
                group.addTask {
                    await DiskQueue.playlists.run {
                        let running = counts.withLock { counts in
                            counts.running += 1
                            counts.most = max(counts.most, counts.running)
                            return counts.running
                        }
                        // The first ones wait until all threads are taken.
                        if number < cores {
                            if running == cores { for _ in 1..<cores { full.signal() } } else { full.wait() }
                        }
                        counts.withLock { $0.running -= 1 }
                    }
                }
            }
        }
        #expect(counts.withLock { $0.most } == cores)
    }

    @Test("a playlist that is read quickly does not wait for those that stand for much")
    func lanes() async throws {
        let threads = max(1, ProcessInfo.processInfo.activeProcessorCount / 2)
        let isOver = DispatchSemaphore(value: 0)
        let held = (0..<threads).map { _ in Task { await DiskQueue.largePlaylists.run { isOver.wait() } } }
        let release: () async -> Void = {
            for _ in held { isOver.signal() }
            for task in held { await task.value }
        }
        do {
            let (small, codes, _) = try await Self.edited(
                "#EXTM3U\n#EXTINF:4,\nhttps://b.example/1.ts\n", at: "/small.m3u8", madeBytes: 64 << 20)
            #expect(try small.get() != nil && codes.isEmpty)
        } catch {
            await release()
            throw error
        }
        await release()
        // More than is made at first, and less than is allowed.
        let long = String(repeating: "l", count: 400)
        let (large, codes, listed) = try await Self.edited(
            Self.mpd("https://b.example/\(long)$Number$.m4s"), at: "/large.mpd", madeBytes: 64 << 20)
        #expect(try large.get() != nil && codes.isEmpty && listed)
    }
}
