import Foundation
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// The proxy of an app's HLS items: who may use it, and what the system may do to its listener.
@Suite(.limit(minutes: 1)) struct InAppProxyTests {
    private struct Site {
        let bench: Bench
        let proxy: InAppProxy

        static func run(
            rules: ItemRules = ItemRules(fields: [:], partition: nil, networkPolicy: .any),
            _ body: (Site) async throws -> Void
        ) async throws {
            try await Bench.run { bench async throws in
                let proxy = try InAppProxy(bench.cache, rules: rules)
                let result: Result<Void, any Error>
                do { result = .success(try await body(Site(bench: bench, proxy: proxy))) } catch {
                    result = .failure(error)
                }
                await proxy.stop()
                try result.get()
            }
        }

        var origin: TestOrigin { bench.origin }

        /// The request target of `path` at the proxy.
        func target(_ path: String) throws -> String {
            let address = proxy.address(of: try ResourceURL(bench.origin.url(path)))
            let start = "http://127.0.0.1:\(proxy.port)"
            #expect(address.hasPrefix(start))
            return String(address.dropFirst(start.count))
        }

        func get(_ target: String, _ fields: [String] = []) async throws -> (head: RawClient.Head, body: [UInt8]) {
            try await RawClient.exchange(port: proxy.port, target, fields)
        }

        func publishStream() {
            let list = "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:6,\n/a.ts\n#EXT-X-ENDLIST\n"
            origin.set(TestOrigin.Resource(.bytes(Array(list.utf8)), mediaType: StreamSite.hls), at: "/list.m3u8")
            bench.publish("/a.ts", length: 10_000, type: "video/mp2t")
        }
    }

    @Test func aStreamPlaysThroughItAndIsStored() async throws {
        try await Site.run { site async throws in
            site.publishStream()
            for _ in 0..<2 {
                let list = try await site.get(site.target("/list.m3u8"))
                let link = try #require(
                    String(decoding: list.body, as: UTF8.self).split(separator: "\n").first { $0.hasSuffix("a.ts") })
                #expect(try String(link) == site.target("/a.ts"))
                let segment = try await site.get(String(link))
                #expect(segment.body == TestPattern.bytes(in: 0..<10_000, seed: 1))
            }
            #expect(site.origin.snapshot["/a.ts"].requestCount == 1)
        }
    }

    @Test func otherProgramsDoNotKnowItsToken() async throws {
        try await Site.run { site async throws in
            site.publishStream()
            let target = try site.target("/a.ts")
            let parts = target.split(separator: "/", maxSplits: 1)
            #expect(parts[0].utf8.count == 32)
            let changed = String(parts[0].reversed())
            for other in ["/\(parts[1])", "/x/\(parts[1])", "/\(changed)/\(parts[1])", "/"] {
                #expect(try await site.get(other).head.status == 403, "\(other)")
            }
            #expect(site.origin.snapshot["/a.ts"].requestCount == 0)
        }
    }

    @Test func onlyTheAppControlsIt() async throws {
        try await Site.run { site async throws in
            let token = try #require(try site.target("/a.ts").split(separator: "/").first)
            for path in ["status.json", "events", "api/status.json"] {
                #expect(try await site.get("/\(token)/-/\(path)").head.status == 404, "\(path)")
            }
        }
    }

    @Test func everyProxyHasAnotherToken() async throws {
        try await Site.run { first async throws in
            try await Site.run { second async throws in
                let tokens = Set([first, second].compactMap { try? $0.target("/a").split(separator: "/").first })
                #expect(tokens.count == 2)
            }
        }
    }

    // MARK: - A suspended app

    /// What the system may do to a listener.
    enum Fault: CaseIterable {
        /// It does not listen any more, as after a suspension.
        case defunct
        /// Its descriptor is closed.
        case closed
        /// Its descriptor is another file's by now.
        case replaced

        func happen(to descriptor: CInt) {
            switch self {
            case .defunct: _ = shutdown(descriptor, CInt(SHUT_RDWR))
            case .closed: _ = close(descriptor)
            case .replaced:
                let other = open("/dev/null", O_RDONLY)
                _ = dup2(other, descriptor)
                _ = close(other)
            }
        }
    }

    @Test(arguments: Fault.allCases)
    func aListenerThatTheSystemClosedIsBackOnItsPortBeforeAnItemNeedsIt(_ fault: Fault) async throws {
        try await Site.run { site async throws in
            site.publishStream()
            let target = try site.target("/a.ts")
            for _ in 0..<3 {
                let descriptor = site.proxy.descriptor
                fault.happen(to: descriptor)
                #expect(site.proxy.check())
                #expect(try await site.get(target).head.status == 200)
                if fault == .replaced {
                    #expect(fcntl(descriptor, F_GETFD) != -1, "another's file stays open")
                    close(descriptor)
                }
            }
            #expect(site.proxy.openings == 4)
            #expect(site.origin.snapshot["/a.ts"].requestCount == 1)
        }
    }

    @Test(arguments: Fault.allCases)
    func itIsBackWithinOneRequestWithoutAnyCheck(_ fault: Fault) async throws {
        try await Site.run { site async throws in
            site.publishStream()
            let target = try site.target("/a.ts")
            let descriptor = site.proxy.descriptor
            fault.happen(to: descriptor)
            // The first may come while nothing listens, but is not lost where the socket lives on.
            do { #expect(try await site.get(target).head.status == 200) } catch {
                #expect(fault == .defunct, "\(error)")
            }
            await eventually { site.proxy.openings == 2 }
            #expect(try await site.get(target).head.status == 200)
            if fault == .replaced { close(descriptor) }
        }
    }

    @Test func itIsBackWithoutAClientOrACheck() async throws {
        try await Site.run { site async throws in
            // A closed descriptor wakes no thread, as a defunct one of an app that goes on in the background.
            close(site.proxy.descriptor)
            await eventually { site.proxy.openings == 2 }
        }
    }

    @Test func aConnectionThatEndsHasTheListenerExamined() async throws {
        try await Site.run { site async throws in
            site.publishStream()
            let target = try site.target("/a.ts")
            do {
                let client = try RawClient(port: site.proxy.port)
                try await client.get(target)
                #expect(try await client.head().status == 200)
                _ = try await client.body(10_000)
                shutdown(site.proxy.descriptor, CInt(SHUT_RDWR))
            }
            await eventually { site.proxy.connections == 0 }
            #expect(site.proxy.check())
            #expect(try await site.get(target).head.status == 200)
        }
    }

    @Test func aClientThatComesBeforeTheLoopIsReadyIsAnswered() async throws {
        try await Site.run { site async throws in
            site.publishStream()
            // The listener's backlog takes it, whatever the proxy's threads do.
            let target = try site.target("/a.ts")
            let clients = try (0..<20).map { _ in try RawClient(port: site.proxy.port) }
            for client in clients {
                try await client.get(target)
                #expect(try await client.head().status == 200)
            }
        }
    }

    @Test func afterItsEndNothingListensAndAllIsClosed() async throws {
        try await Bench.run { bench async throws in
            let rules = ItemRules(fields: [:], partition: nil, networkPolicy: .any)
            let proxy = try InAppProxy(bench.cache, rules: rules)
            let (port, descriptor) = (proxy.port, proxy.descriptor)
            let client = try RawClient(port: port)
            await eventually { proxy.connections == 1 }
            await proxy.stop()
            await proxy.stop()
            #expect(try await client.upTo(1).isEmpty)
            #expect(throws: RawClient.Failure.self) { _ = try RawClient(port: port) }
            #expect(IPv4SocketAddress.port(of: descriptor) != port)
            #expect(!proxy.check())
        }
    }

    // MARK: - What origins are told

    @Test func theAppsFieldsAndThePlaybackGoToHostsThatItNamed() async throws {
        var fields = HTTPFields()
        fields[.authorization] = "Bearer secret"
        let rules = ItemRules(fields: fields, partition: "anna", networkPolicy: .any)
        try await Site.run(rules: rules) { site async throws in
            let other = try await TestOrigin.start()
            site.bench.publish("/list.ts", length: 10)
            other.set(TestOrigin.Resource(.pattern(seed: 1, length: 10), mediaType: "video/mp2t"), at: "/b.ts")
            let session = "X-Playback-Session-Id: 6F1D"
            let target = try site.target("/list.ts")
            _ = try await site.get(target, [session])
            let prefix = target.prefix { $0 != ":" }.dropLast("/http/127.0.0.1".count)
            _ = try await site.get("\(prefix)/http/127.0.0.1:\(other.port)/b.ts", [session])
            let named = try #require(site.origin.snapshot["/list.ts"].requests.first).fields
            let unnamed = try #require(other.snapshot["/b.ts"].requests.first).fields
            let name = try #require(HTTPField.Name("X-Playback-Session-Id"))
            #expect(named[.authorization] == "Bearer secret")
            #expect(named[name] == "6F1D")
            #expect(unnamed[.authorization] == nil)
            #expect(unnamed[name] == nil)
            #expect(await site.bench.cache.isCached(try ResourceURL(other.url("/b.ts")), partition: "anna"))
            #expect(await !site.bench.cache.isCached(try ResourceURL(other.url("/b.ts"))))
            await other.stop()
        }
    }

    @Test func theKeyThatTheAppNamedIsThatOfThePlaylist() async throws {
        try await Site.run { site async throws in
            site.publishStream()
            let key = CacheKey("episode 7")
            for signature in ["a", "b"] {
                let address = site.proxy.address(
                    of: try ResourceURL(site.origin.url("/list.m3u8?signature=\(signature)")), key: key)
                let target = address.dropFirst("http://127.0.0.1:\(site.proxy.port)".count)
                #expect(try await site.get(String(target)).head.status == 200)
            }
            #expect(site.origin.snapshot["/list.m3u8"].requestCount == 1)
            #expect(try await site.get(site.target("/a.ts")).head.status == 200)
            await site.bench.cache.becomeIdle()
            let titles = try await site.bench.cache.titles()
            #expect(titles.map(\.key) == [key] && titles.first?.fileCount == 2, "and of the title")
            try await site.bench.cache.removeTitle(key)
            #expect(try await site.bench.cache.entries().isEmpty)
        }
    }
}
