import Foundation
import HTTPTypes
import Reprise
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// HLS made by ffmpeg, played by mpv through the proxy.
@Suite(
    .serialized, .limit(minutes: 5),
    .enabled(
        if: Players.ffmpeg != nil && Players.mpv != nil,
        "ffmpeg or mpv is not installed; scripts/bootstrap test installs them"))
struct HLSPlayerTests {
    private static let playlistType = "application/vnd.apple.mpegurl"

    /// ffmpeg's arguments up to the playlist's name: `seconds` of sound in segments of one.
    private static func arguments(_ seconds: Int, _ more: [String]) -> [String] {
        [
            "-v", "error", "-nostdin", "-f", "lavfi", "-i", "anoisesrc=seed=7:amplitude=0.2:duration=\(seconds)",
            "-c:a",
            "aac", "-b:a", "128k", "-f", "hls", "-hls_time", "1", "-hls_segment_filename", "segment%03d.ts",
        ] + more
    }

    private static func play(_ url: String, seconds: Int) async throws {
        let outcome = try await ChildProcess.run(
            try #require(Players.mpv),
            [
                "--no-config", "--vo=null", "--ao=null", "--no-terminal", "--untimed", "--length=\(seconds)", url,
            ], limit: .seconds(60))
        #expect(outcome.exit == .status(0), "\(outcome)")
    }

    /// The name of the newest segment; names sort as they were made.
    private static func lastSegment(_ playlist: String) -> String {
        playlist.split(separator: "\n").last { $0.hasPrefix("segment") }.map(String.init) ?? ""
    }

    /// How the links of a playlist are written.
    enum Style: CaseIterable {
        case relative
        /// By turns with scheme and host, from the root, and through a variable.
        case mixed

        /// `playlist` with its links in this style; the origin has it in `/show/`.
        func applied(to playlist: String, port: Int) -> String {
            guard self == .mixed else { return playlist }
            let host = "127.0.0.1:\(port)/show"
            var number = 0
            let lines = playlist.split(separator: "\n").map { line in
                guard line.hasPrefix("segment") else { return String(line) }
                number += 1
                return ["http://\(host)/", "/show/", "{$at}/"][number % 3] + line
            }
            return lines.joined(separator: "\n").replacing(
                "#EXTM3U", with: "#EXTM3U\n#EXT-X-DEFINE:NAME=\"at\",VALUE=\"//\(host)\"") + "\n"
        }
    }

    @Test(arguments: Style.allCases) func theSecondPlayOfARecordingCostsNothing(style: Style) async throws {
        let directory = try TemporaryDirectory(prefix: "reprise-hls")
        defer { directory.remove() }
        let playlist = directory.path(of: "index.m3u8")
        let made = try await ChildProcess.run(
            "/bin/sh",
            ["-c", "cd \"$1\" && shift && exec \"$@\"", "sh", directory.path, try #require(Players.ffmpeg)]
                + Self.arguments(12, ["-hls_list_size", "0", "-hls_playlist_type", "vod", playlist]),
            limit: .seconds(60))
        #expect(made.exit == .status(0), "\(made)")
        try await ProxyBench.run { proxy async throws in
            let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            #expect(names.count > 10)
            for name in names {
                let type = name.hasSuffix(".ts") ? "video/mp2t" : Self.playlistType
                proxy.bench.origin.set(
                    TestOrigin.Resource(.file(path: directory.path(of: name)), mediaType: type, etag: "\"\(name)\""),
                    at: "/show/\(name)")
            }
            let list = style.applied(
                to: try String(contentsOfFile: playlist, encoding: .utf8), port: proxy.bench.origin.port)
            proxy.bench.origin.set(
                TestOrigin.Resource(.bytes(Array(list.utf8)), mediaType: Self.playlistType, etag: "\"list\""),
                at: "/show/index.m3u8")
            let url = proxy.server.address + proxy.target("/show/index.m3u8")
            try await Self.play(url, seconds: 12)
            let first = await proxy.bench.origin.settledSnapshot()
            #expect(first.requests.count { $0.path.hasSuffix(".ts") } >= 10)
            let direct = first.requests.filter { !$0.fields.contains { $0.name.canonicalName == "via" } }.map(\.path)
            #expect(direct.isEmpty, "every request comes through the proxy")
            try await Self.play(url, seconds: 12)
            let second = await proxy.bench.origin.settledSnapshot()
            #expect(second.bodyBytesSent == first.bodyBytesSent, "the second play costs no body byte")
            #expect(first.bytesSentMoreThanOnce == 0)
        }
    }

    @Test func aLivePlaylistIsNeverStalerThanItsRulesAllow() async throws {
        let directory = try TemporaryDirectory(prefix: "reprise-live")
        defer { directory.remove() }
        let playlist = directory.path(of: "live.m3u8")
        let encoder = try ChildProcess(
            "/bin/sh",
            ["-c", "cd \"$1\" && shift && exec \"$@\"", "sh", directory.path, try #require(Players.ffmpeg), "-re"]
                + ["-progress", "pipe:1", "-stats_period", "0.5"]
                + Self.arguments(40, ["-hls_list_size", "5", playlist]), limit: .seconds(100))
        defer { encoder.send(SIGKILL) }
        try await ProxyBench.run { proxy async throws in
            let origin = proxy.bench.origin
            origin.set(
                TestOrigin.Resource(
                    .file(path: playlist), mediaType: Self.playlistType, etag: nil, lastModified: nil,
                    fields: [.cacheControl: "max-age=1"]), at: "/live.m3u8")
            for number in 0..<60 {
                let name = "segment" + String(repeating: "0", count: 3 - "\(number)".count) + "\(number).ts"
                origin.set(
                    TestOrigin.Resource(
                        .file(path: directory.path(of: name)), mediaType: "video/mp2t", etag: "\"\(name)\""),
                    at: "/\(name)")
            }
            // The encoder writes the playlist with its first segments; before that the origin has no playlist.
            _ = await encoder.output.wait { $0.contains("out_time=00:00:04") }
            async let playing: Void = Self.play(proxy.server.address + proxy.target("/live.m3u8"), seconds: 6)
            var playlists: Set<String> = []
            // What the origin had, and when; an answer may be a second old, and ages count whole seconds.
            var published: [(at: ContinuousClock.Instant, segment: String)] = []
            var compared = 0
            for count in 1...8 {
                // The player asks for a segment a second or so.
                await origin.waitUntil { $0.requests.count { $0.path.hasSuffix(".ts") } >= count }
                published.append((.now, try Self.lastSegment(String(contentsOfFile: playlist, encoding: .utf8))))
                let asked = ContinuousClock.now
                let (head, body) = try await proxy.get("/live.m3u8")
                #expect(head.status == 200)
                playlists.insert(String(decoding: body, as: UTF8.self))
                if let due = published.last(where: { asked - $0.at >= .seconds(2) }) {
                    #expect(Self.lastSegment(String(decoding: body, as: UTF8.self)) >= due.segment, "two seconds old")
                    compared += 1
                }
            }
            #expect(compared >= 3)
            try await playing
            #expect(playlists.count >= 3, "the playlist moved on, and so did what clients got")
            let snapshot = await origin.settledSnapshot()
            #expect(snapshot.requests.count { $0.path.hasSuffix(".ts") } >= 5)
            #expect(snapshot.requests.count { $0.path == "/live.m3u8" } >= 3)
        }
    }
}
