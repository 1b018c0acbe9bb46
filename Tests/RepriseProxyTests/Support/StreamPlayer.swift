import Foundation
import RepriseTesting
import TestSupport

/// A real player that plays a stream from beginning to end.
enum StreamPlayer: String, CaseIterable, Sendable {
    case ffmpeg, mpv, vlc, gstreamer, chromium

    /// It did not play to the end.
    struct Failure: Error { let player: StreamPlayer, url: String, outcome: ChildProcess.Outcome }

    var path: String? {
        switch self {
        case .ffmpeg: Players.ffmpeg
        case .mpv: Players.mpv
        case .vlc: ChildProcess.path(of: "cvlc")
        case .gstreamer: ChildProcess.path(of: "gst-launch-1.0")
        case .chromium: Chromium.path
        }
    }

    /// Whether it plays DASH by itself.
    var playsDASH: Bool { self != .chromium }

    /// Those that `REPRISE_STREAM_PLAYERS` names, or ffmpeg.
    private static let wanted: [StreamPlayer] = {
        let names = ProcessInfo.processInfo.environment["REPRISE_STREAM_PLAYERS"]
        return names.map { $0.split(separator: ",").compactMap { StreamPlayer(rawValue: String($0)) } } ?? [.ffmpeg]
    }()

    /// Those of them that are installed.
    static let chosen = wanted.filter { $0.path != nil }

    static func isWanted(_ player: StreamPlayer) -> Bool { wanted.contains(player) }

    /// Plays `url` to its end; a browser plays it in a page of `pages`.
    func play(_ url: String, pages: TestOrigin) async throws {
        let home = try TemporaryDirectory(prefix: "reprise-player")
        defer { home.remove() }
        let outcome: ChildProcess.Outcome
        switch self {
        case .ffmpeg:
            outcome = try await run(["-v", "error", "-nostdin", "-i", url, "-f", "null", "-"], home)
        case .mpv:
            outcome = try await run(
                ["--no-config", "--vo=null", "--ao=null", "--no-terminal", "--untimed", url], home)
        case .vlc:
            outcome = try await run(
                [
                    "--intf", "dummy", "--vout", "dummy", "--aout", "dummy", "--no-video-title-show", "--play-and-exit",
                    "--no-media-library", "--network-caching=300", url,
                ], home)
        case .gstreamer:
            outcome = try await run(
                ["-q", "playbin", "uri=\(url)", "video-sink=fakesink", "audio-sink=fakesink", "flags=0x3"], home)
        case .chromium:
            try await playInPage(url, pages)
            return
        }
        guard outcome.exit == .status(0), !outcome.errors.contains("ERROR: from element") else {
            throw Failure(player: self, url: url, outcome: outcome)
        }
    }

    private func playInPage(_ url: String, _ pages: TestOrigin) async throws {
        let page = """
            <!DOCTYPE html><title>page</title><body><script>
            const video = document.createElement("video");
            video.onended = () => fetch("/report?ended");
            video.onerror = () => fetch("/report?error=" + encodeURIComponent(`${video.error.code} ${video.error.message} at ${video.currentTime}`));
            // Without it, Chromium refuses byte ranges of a list from another origin, also without the proxy.
            video.crossOrigin = "anonymous";
            video.src = "\(url)";
            document.body.append(video);
            video.play();
            </script></body>
            """
        pages.set(TestOrigin.Resource(.bytes(Array(page.utf8)), mediaType: "text/html"), at: "/page.html")
        pages.set(TestOrigin.Resource(.bytes([]), mediaType: "text/plain"), at: "/report")
        let before = pages.snapshot["/report"].requestCount
        try await Chromium().open(pages.url("/page.html")) {
            await pages.waitUntil { $0["/report"].requestCount > before }
        }
        guard pages.snapshot["/report"].requests.last?.target == "/report?ended" else {
            throw PageFailure(url: url, report: pages.snapshot["/report"].requests.last?.target ?? "")
        }
    }

    /// The page could not play it to the end.
    struct PageFailure: Error { let url: String, report: String }

    private func run(_ arguments: [String], _ home: TemporaryDirectory) async throws -> ChildProcess.Outcome {
        var command = [path ?? ""] + arguments
        if self == .vlc, geteuid() == 0 {
            // It refuses to run as root.
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: home.path)
            command = ["/usr/bin/setpriv", "--reuid", "65534", "--clear-groups"] + command
        }
        let environment = ProcessInfo.processInfo.environment.merging(["HOME": home.path]) { $1 }
        return try await ChildProcess.run(
            command[0], Array(command.dropFirst()), environment: environment, limit: .seconds(90))
    }
}
