import Foundation
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

extension FaultySite {
    /// Streams and downloads, while the node dies that sends a part of each of them, and when it is back.
    func killDuringStreamsAndDownloads() async throws {
        let dying = "n3"
        let first = try await Show(in: self, of: dying, after: 0)
        let shows = [first, try await Show(in: self, of: dying, after: first.number)]
        let live = try await liveList(of: dying)
        let (film, seed) = try await cluster.held(by: dying, length: length, at: Int64(part))

        let directories = [try TemporaryDirectory(), try TemporaryDirectory()]
        defer { for directory in directories { directory.remove() } }
        let downloads = try zip(directories, [film, shows[1].list]).map { directory, path in
            let url = "http://127.0.0.1:\(edge)\(cluster.target(path))"
            return try ChildProcess(
                Command.path, ["download", "--cache-dir", directory.path, url],
                environment: Command.environment())
        }
        var players: [ResumingClient] = []
        for port in [edge, cluster.port] {
            try await shows[0].read(upTo: shows[0].held, in: self, port: port)
            let player = try await ResumingClient(port: port, cluster.target(shows[0].path(shows[0].held)))
            try await player.read(upTo: part)
            players.append(player)
        }
        var viewer = LiveViewer(port: edge, target: cluster.target(live))
        publish(live, 0..<3)
        try await viewer.wait(for: 2)
        let paths = [film, shows[1].path(shows[1].held)]
        let part = Int64(part)
        await cluster.origin.waitUntil { sent in paths.allSatisfy { sent[$0].bodyBytesSent >= part } }

        try await cluster.kill(dying)
        for path in paths + [shows[0].path(shows[0].held)] { cluster.origin.release(path) }
        for player in players {
            try await player.readAll()
            #expect(player.has(seed: shows[0].seed(shows[0].held)))
        }
        #expect(players[0].heads.count == 1 && players[1].heads.count <= 2, "the edge hides it, others ask again")
        for port in [edge, cluster.port] { try await shows[0].read(upTo: Show.count, in: self, port: port) }
        publish(live, 1..<5)
        try await viewer.wait(for: 4)
        for download in downloads {
            let outcome = await download.outcome()
            #expect(outcome.exit == .status(0), "\(outcome)")
        }
        try check(directories[0], has: film, seed: seed)
        for number in 0..<Show.count {
            try check(directories[1], has: shows[1].path(number), seed: shows[1].seed(number))
        }

        try await start(dying)
        publish(live, 3..<6)
        // The node that is back has the list of before its death, which must not come again.
        try await viewer.wait(for: 5)
        #expect(viewer.isInOrder, "\(viewer.firstSegments)")
    }

    /// The path of a list that `owner` has.
    private func liveList(of owner: String) async throws -> String {
        for number in 0..<100 {
            let path = "/live\(number)/index.m3u8"
            if try await cluster.isOwned(path, by: owner) { return path }
        }
        throw RawClient.Failure.malformed("no list of \(owner)")
    }

    private func publish(_ path: String, _ segments: Range<Int>) {
        cluster.origin.set(
            TestOrigin.Resource(
                .bytes(Array(Show.list(segments, isEnded: false).utf8)), mediaType: StreamMedia.type(of: path),
                etag: "\"\(segments.lowerBound)\""), at: path)
    }

    private func check(_ directory: TemporaryDirectory, has path: String, seed: UInt64) throws {
        let inspector = try CacheInspector(directory: directory.path)
        let entry = try #require(try inspector.entries().first { $0.url.description.hasSuffix(path) }, "\(path)")
        var bytes: [UInt8] = []
        try inspector.read(entry) { bytes += $0 }
        #expect(bytes == TestPattern.bytes(in: 0..<length, seed: seed), "\(path)")
    }
}

/// An HLS stream that has ended, one segment of which the origin stops sending in its middle.
private struct Show {
    static let count = 6

    let number: Int
    /// The number of the segment that is held.
    let held: Int
    var list: String { "/show\(number)/index.m3u8" }

    /// The first show behind `number` of which `owner` has a segment, which is held.
    init(in site: FaultySite, of owner: String, after number: Int) async throws {
        var place: (number: Int, held: Int)?
        for number in number + 1..<number + 20 where place == nil {
            for segment in 1..<Self.count where place == nil {
                let path = "/show\(number)/s\(segment).ts"
                if try await site.cluster.isOwned(path, by: owner) { place = (number, segment) }
            }
        }
        (self.number, held) = try #require(place, "\(owner) has no segment")
        let origin = site.cluster.origin
        origin.set(
            TestOrigin.Resource(
                .bytes(Array(Self.list(0..<Self.count, isEnded: true).utf8)), mediaType: StreamMedia.type(of: list)),
            at: list)
        for segment in 0..<Self.count {
            site.cluster.publish(path(segment), seed: seed(segment), length: site.length)
        }
        origin.hold(path(self.held), at: Int64(site.part))
    }

    func path(_ segment: Int) -> String { "/show\(number)/s\(segment).ts" }

    func seed(_ segment: Int) -> UInt64 { UInt64(10_000 * (number + 1) + segment) }

    /// Reads the list and the segments before `end`, as a player does that begins.
    func read(upTo end: Int, in site: FaultySite, port: Int) async throws {
        let text = try await RawClient.exchange(port: port, site.cluster.target(list)).body
        #expect(String(decoding: text, as: UTF8.self).contains("s\(Self.count - 1).ts"))
        for segment in 0..<end {
            let reply = try await RawClient.exchange(port: port, site.cluster.target(path(segment)))
            #expect(reply.head.status == 200)
            #expect(reply.body == TestPattern.bytes(in: 0..<site.length, seed: seed(segment)))
        }
    }

    static func list(_ segments: Range<Int>, isEnded: Bool) -> String {
        let head = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1\n"
        return head + "#EXT-X-MEDIA-SEQUENCE:\(segments.lowerBound)\n"
            + segments.map { "#EXTINF:1,\ns\($0).ts\n" }.joined() + (isEnded ? "#EXT-X-ENDLIST\n" : "")
    }
}

/// Who watches a live stream: asks for its list again and again.
private struct LiveViewer {
    let port: Int
    let target: String
    private(set) var firstSegments: [Int] = []

    /// Whether the list has never gone back.
    var isInOrder: Bool { firstSegments == firstSegments.sorted() }

    /// Reads the list until it names `segment`.
    mutating func wait(for segment: Int) async throws {
        while !Task.isCancelled {
            let reply = try await RawClient.exchange(port: port, target)
            #expect(reply.head.status == 200)
            let text = String(decoding: reply.body, as: UTF8.self)
            let first = try #require(text.firstMatch(of: /MEDIA-SEQUENCE:(\d+)/)?.1)
            firstSegments.append(try #require(Int(first)))
            if text.contains("s\(segment).ts") { return }
            await breathe()
        }
    }
}
