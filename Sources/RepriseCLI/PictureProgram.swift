import Foundation
import Reprise
import RepriseStreams

/// ffmpeg, which decodes a picture of a title from its stored bytes.
///
/// The bytes may be hostile: ffmpeg gets them as its standard input, in formats that name no files, for a limited time.
/// Input and output are files without names, so that nothing is left behind.
struct PictureProgram: Sendable {
    private let ffmpeg: String
    private static let patience = Duration.seconds(10)

    /// `nil` if ffmpeg is not installed.
    init?() {
        guard let ffmpeg = Programs.path(of: "ffmpeg") else { return nil }
        self.ffmpeg = ffmpeg
    }

    /// A small JPEG of the title; `nil` if its stored bytes have no picture.
    func picture(of title: CacheKey, in cache: MediaCache) async -> [UInt8]? {
        // Bytes that cannot be read, or written for ffmpeg, have no picture.
        do {
            guard let bytes = try await cache.storedPicture(ofTitle: title, policy: cache.keyPolicy) else { return nil }
            let (input, output) = (try Self.unnamedFile(), try Self.unnamedFile())
            try input.write(contentsOf: bytes)
            try input.seek(toOffset: 0)
            guard await run(from: input, to: output) else { return nil }
            try output.seek(toOffset: 0)
            return try output.readToEnd().map { [UInt8]($0) }
        } catch { return nil }
    }

    private static func unnamedFile() throws -> FileHandle {
        let path = FileManager.default.temporaryDirectory.appending(path: "reprise-picture-\(UUID().uuidString)").path
        let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemError(errno) }
        unlink(path)
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    private func run(from input: FileHandle, to output: FileHandle) async -> Bool {
        let arguments = [
            "-v", "error", "-protocol_whitelist", "file", "-format_whitelist",
            MediaContainer.mediaFormats.joined(separator: ","), "-threads", "1", "-i", "file:/dev/stdin", "-map",
            "0:v:0", "-frames:v", "1", "-filter:v", "thumbnail=25,scale=320:180:force_original_aspect_ratio=decrease",
            "-c:v", "mjpeg", "-q:v", "5", "-f", "image2pipe", "pipe:1",
        ]
        let surroundings = RunningProgram.Surroundings(
            environment: CacheOptions.environment, input: input.fileDescriptor, output: output.fileDescriptor)
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
