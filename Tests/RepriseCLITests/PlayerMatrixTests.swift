import Foundation
import TestLimits
import TestSupport
import Testing

/// A part of `scripts/matrix`, which plays media directly and through the proxy and compares the results.
///
/// All programs, servers and media together need 25 minutes.
@Suite(
    .serialized, .limit(minutes: 10),
    .enabled(
        if: ["python3", "curl", "ffmpeg", "mpv", "nginx"].allSatisfy { ChildProcess.path(of: $0) != nil },
        "python3, curl, ffmpeg, mpv or nginx is not installed; scripts/bootstrap test installs them"))
struct PlayerMatrixTests {
    private struct Row: Decodable {
        let outcome: String
    }

    @Test("what plays directly plays through the proxy") func matrix() async throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("scripts/matrix").path
        let outcome = try await ChildProcess.run(
            script,
            [
                "--reprise", try Command.path, "--json", "--only", "curl,ffmpeg,mpv", "--servers", "nginx,chunked,live",
                "--media", "late.mp4,hls-fmp4/index.m3u8,dash/index.mpd,live/index.m3u8",
            ],
            environment: Command.environment())
        let rows = try outcome.output.split(separator: "\n").map {
            try JSONDecoder().decode(Row.self, from: Data($0.utf8))
        }
        #expect(outcome.exit == .status(0), "\(outcome)")
        #expect(rows.count { $0.outcome == "pass" || $0.outcome == "more" } >= 16, "\(outcome)")
    }
}
