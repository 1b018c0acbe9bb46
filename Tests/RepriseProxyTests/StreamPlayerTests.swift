import Foundation
import HTTPTypes
import Reprise
import RepriseProxy
import RepriseStreams
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Every way of packaging a stream and of writing its links, played by real players through the proxy.
///
/// `REPRISE_STREAM_PLAYERS=ffmpeg,mpv,vlc,gstreamer,chromium` names the players, and `REPRISE_STREAM_STYLES=all` takes
/// every way of writing links with every player; without them ffmpeg plays each packaging once.
@Suite(
    .serialized, .limit(minutes: 30),
    .enabled(
        if: Players.ffmpeg != nil,
        "ffmpeg is not installed; scripts/bootstrap test installs it"))
struct StreamPlayerTests {
    /// How the links of playlists are written.
    enum Style: String, CaseIterable {
        case absolute, root, redirect, variable

        static let areAllTaken = ProcessInfo.processInfo.environment["REPRISE_STREAM_STYLES"] == "all"
    }

    /// The styles in which `media` is tried: all, or one, so that each comes up.
    private static func styles(of media: StreamMedia) -> [Style] {
        let possible: [Style] = media.isDASH ? [.absolute, .root, .redirect] : Style.allCases
        if Style.areAllTaken { return possible }
        let number = StreamMedia.allCases.firstIndex(of: media) ?? 0
        return [possible[number % possible.count]]
    }

    /// `playlist` with its links written in this style; the origin has its files in `/show/`.
    private static func written(_ playlist: String, _ style: Style, port: Int, isDASH: Bool) -> String {
        let prefix: String
        switch style {
        case .absolute: prefix = "http://127.0.0.1:\(port)/show/"
        case .root: prefix = "/show/"
        case .redirect: return playlist
        case .variable: prefix = "{$at}/"
        }
        if isDASH {
            return playlist.replacing("<Period", with: "<BaseURL>\(prefix)</BaseURL><Period", maxReplacements: 1)
        }
        let definition = style == .variable ? "\n#EXT-X-DEFINE:NAME=\"at\",VALUE=\"//127.0.0.1:\(port)/show\"" : ""
        let lines = playlist.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            if line.isEmpty { return "" }
            return line.hasPrefix("#") ? String(line.replacing("URI=\"", with: "URI=\"\(prefix)")) : prefix + line
        }
        return lines.joined(separator: "\n").replacing("#EXTM3U", with: "#EXTM3U" + definition, maxReplacements: 1)
    }

    @Test(arguments: StreamMedia.allCases) func everyLinkLeadsBackAndNothingIsFetchedTwice(media: StreamMedia)
        async throws
    {
        let files = try await media.make()
        for style in Self.styles(of: media) {
            for player in StreamPlayer.chosen where !media.isDASH || player.playsDASH {
                try await Self.play(files, media, style, with: player)
            }
        }
    }

    @Test(
        "what was preloaded of a stream plays while the origin is away",
        // ffmpeg begins every variant that there is.
        arguments: StreamMedia.allCases.filter { $0 != .variants })
    func preloaded(media: StreamMedia) async throws {
        let files = try await media.make()
        try await ProxyBench.run(configure: { $0.downloadsStreams = true }) { proxy async throws in
            let origin = proxy.bench.origin
            for (name, bytes) in files {
                origin.set(
                    TestOrigin.Resource(.bytes(bytes), mediaType: StreamMedia.type(of: name)), at: "/show/\(name)")
            }
            let path = "/show/\(media.index)"
            let frames = try await Players.ffmpegFrames(origin.url(path), after: ["-t", "1.5"])
            let sent = await origin.settledSnapshot().bodyBytesSent
            try await proxy.bench.cache.resource(for: origin.url(path)).preload(.seconds(3))
            let preloaded = await origin.settledSnapshot().bodyBytesSent - sent
            await origin.stop()
            let url = proxy.server.address + proxy.target(path)
            #expect(try await Players.ffmpegFrames(url, after: ["-t", "1.5"]) == frames)
            let all = files.values.reduce(0) { $0 + $1.count }
            print("preloaded \(media.rawValue): 3 s of 6 are \(preloaded) of \(all) bytes")
            #expect(preloaded * 4 < all * 3 && frames.count > 10)
        }
    }

    /// Number of bytes of playlists and media that the origin has sent.
    ///
    /// Not of keys, which are never stored: VLC asks for them with `no-cache`.
    private static func mediaBytes(_ snapshot: TestOrigin.Snapshot) -> Int64 {
        snapshot.requests.filter { ($0.status == 200 || $0.status == 206) && !$0.path.hasSuffix("/key.bin") }
            .reduce(0) { $0 + $1.bodyBytesSent }
    }

    private static func play(
        _ files: [String: [UInt8]], _ media: StreamMedia, _ style: Style, with player: StreamPlayer
    ) async throws {
        let pages = try await TestOrigin.start()
        let result: Result<Void, any Error>
        do { result = .success(try await play(files, media, style, with: player, pages)) } catch {
            result = .failure(error)
        }
        await pages.stop()
        try result.get()
    }

    private static func play(
        _ files: [String: [UInt8]], _ media: StreamMedia, _ style: Style, with player: StreamPlayer, _ pages: TestOrigin
    ) async throws {
        try await ProxyBench.run(configureProxy: { $0.allowedPages = ["http://127.0.0.1:\(pages.port)"] }) {
            proxy async throws in
            let origin = proxy.bench.origin
            for (name, bytes) in files {
                var content = bytes
                if name.hasSuffix(".m3u8") || name.hasSuffix(".mpd") {
                    let text = written(
                        String(decoding: bytes, as: UTF8.self), style, port: origin.port, isDASH: media.isDASH)
                    content = Array(text.utf8)
                }
                origin.set(
                    TestOrigin.Resource(.bytes(content), mediaType: StreamMedia.type(of: name), etag: "\"\(name)\""),
                    at: "/show/\(name)")
            }
            origin.set(
                TestOrigin.Resource(
                    .bytes([]), mediaType: nil, personality: .init { $0.redirect = "/show/\(media.index)" }),
                at: "/go/\(media.index)")
            let path = style == .redirect ? "/go/\(media.index)" : "/show/\(media.index)"
            let url = proxy.server.address + proxy.target(path)
            let cell = "\(media.rawValue), \(style), \(player)"
            try await player.play(url, pages: pages)
            let first = await origin.settledSnapshot()
            let segments = first.requests.filter { !$0.path.hasSuffix(".m3u8") && !$0.path.hasSuffix(".mpd") }
            // Of one file for all segments, Chromium requests the whole.
            let least = media == .byteRanges ? 1 : 2
            #expect(segments.count >= least, "\(cell): \(first.requests.map(\.path))")
            let direct = first.requests.filter { !$0.fields.contains { $0.name.canonicalName == "via" } }.map(\.path)
            #expect(direct.isEmpty, "\(cell): every request comes through the proxy")
            #expect(first.bytesSentMoreThanOnce == 0, "\(cell)")
            try await player.play(url, pages: pages)
            let second = await origin.settledSnapshot()
            // A template has no end, so that some players ask for the segment behind the last one.
            #expect(mediaBytes(second) == mediaBytes(first), "\(cell): the second play costs no byte of media")
            if player == .ffmpeg, style == .redirect || style == .root {
                let direct = try await Players.ffmpegFrames(origin.url("/show/\(media.index)"))
                #expect(try await Players.ffmpegFrames(url) == direct, "\(cell): the same frames as without the proxy")
            }
        }
    }
}
