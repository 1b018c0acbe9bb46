import Foundation
import Reprise
import RepriseStreams

/// ffmpeg, which decodes a picture of a title from its stored bytes.
///
/// The bytes may come from anybody: it reads one file, in formats that name no others, for a limited time.
struct PictureProgram: Sendable {
    private let ffmpeg: String
    private static let patience = Duration.seconds(10)

    /// `nil` if ffmpeg is not installed.
    init?() {
        guard let ffmpeg = Programs.path(of: "ffmpeg") else { return nil }
        self.ffmpeg = ffmpeg
    }

    /// A small JPEG of the title; `nil` if nothing of it is stored that can be shown.
    func picture(of title: CacheKey, in cache: MediaCache) async -> [UInt8]? {
        let files = FileManager.default
        let folder = files.temporaryDirectory.appending(path: "reprise-picture-\(UUID().uuidString)")
        defer { try? files.removeItem(at: folder) }
        // What cannot be read, or written for ffmpeg, has no picture.
        do {
            guard let bytes = try await cache.storedPicture(ofTitle: title, policy: cache.keyPolicy) else { return nil }
            try files.createDirectory(
                at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            let (input, output) = (folder.appending(path: "media"), folder.appending(path: "picture.jpg"))
            try Data(bytes).write(to: input)
            guard await run(from: input.path, to: output.path) else { return nil }
            return [UInt8](try Data(contentsOf: output))
        } catch { return nil }
    }

    private func run(from input: String, to output: String) async -> Bool {
        let arguments = [
            "-nostdin", "-v", "error", "-protocol_whitelist", "file", "-format_whitelist",
            MediaContainer.mediaFormats.joined(separator: ","), "-threads", "1", "-i", "file:\(input)", "-map", "0:v:0",
            "-frames:v", "1", "-filter:v", "thumbnail=25,scale=320:180:force_original_aspect_ratio=decrease",
            "-c:v", "mjpeg", "-q:v", "5", "-f", "image2", "-update", "1", "file:\(output)",
        ]
        let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(nowhere) }
        let surroundings = RunningProgram.Surroundings(environment: CacheOptions.environment, output: nowhere)
        guard
            let program = try? RunningProgram(
                ffmpeg, arguments: arguments, errors: "/dev/null", surroundings: surroundings)
        else { return false }
        let watch = Task {
            try await Task.sleep(for: Self.patience)
            program.kill()
        }
        defer { watch.cancel() }
        return await program.wait(ending: SIGKILL) == 0
    }
}
