import ArgumentParser
import Foundation
import Reprise

/// ffmpeg, which copies a stored stream into one file.
struct FFmpeg: Sendable {
    /// Where the program is.
    let path: String
    /// The output, as messages call it.
    let output: String
    /// A folder for what it reports.
    let folder: String

    private var log: String { "\(folder)/ffmpeg.log" }
    private var progress: String { "\(folder)/ffmpeg.progress" }

    /// Runs it with `arguments`; it writes the file at `file`.
    ///
    /// Throws a ``Failure/Reason`` if it fails, or is stuck, and `CancellationError` when the task is canceled.
    func write(_ file: String, _ arguments: [String]) async throws {
        let options = ["-nostdin", "-v", "error", "-progress", "file:\(progress)"]
        let program = try RunningProgram(path, arguments: options + arguments, errors: log)
        let watch = Task {
            try await Self.waitUntilStuck(file)
            program.send(SIGKILL)
        }
        // What it has written goes anyway, and in some loops it does not heed SIGTERM.
        let code = await program.wait(ending: SIGKILL)
        watch.cancel()
        try Task.checkCancellation()
        guard code != 0 else { return }
        if case .success = await watch.result {
            throw Self.failure(
                "ffmpeg was ended, because it has written nothing of \(output) for \(GrowthWatch.patience) s.")
        }
        let text = FileManager.default.contents(atPath: log).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let lines = text.split(whereSeparator: \.isNewline).suffix(Self.shownLines).map { "  \(String($0).printable)" }
        throw Self.failure(
            "ffmpeg cannot write \(output) (exit code \(code)). Another container such as .mkv may take the stream.",
            lines: lines)
    }

    /// A failure, for which a folder is proposed.
    static func failure(_ message: String, lines: [String] = []) -> Failure.Reason {
        Failure.Reason(
            code: ExitCode(1), name: "ffmpegFailed",
            message: ([message + " A name without extension writes the stream as a folder."] + lines)
                .joined(separator: "\n"))
    }

    /// Size of the file at `path`, in bytes.
    static func size(of path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Most lines of ffmpeg's that are shown.
    private static let shownLines = 8

    /// Returns when the file at `path` has not grown for as long as ffmpeg is waited for.
    ///
    /// Throws `CancellationError` when the task is canceled.
    private static func waitUntilStuck(_ path: String) async throws {
        var watch = GrowthWatch()
        while !watch.isStuck(size: size(of: path)) { try await Task.sleep(for: GrowthWatch.interval) }
    }

    // MARK: - Playing time

    /// How long the file that was written last, at `file`, plays, in seconds; `nil` if neither program says it.
    ///
    /// The longer of two times: ffmpeg's own may be that of the track that ends first, such as subtitles, and ffprobe
    /// estimates that of files without a header.
    func duration(of file: String) async throws -> Double? {
        let reported = FileManager.default.contents(atPath: progress).flatMap { data in
            Self.reportedTime(String(decoding: data, as: UTF8.self))
        }
        let probed = try await probedTime(of: file)
        return [reported, probed].compactMap { $0 }.max()
    }

    /// The time in the last part of ffmpeg's progress reports.
    static func reportedTime(_ text: String) -> Double? {
        let name = "out_time_us="
        return text.split(whereSeparator: \.isNewline).last { $0.hasPrefix(name) }
            .flatMap { Double($0.dropFirst(name.count)) }.map { $0 / 1_000_000 }
    }

    private func probedTime(of file: String) async throws -> Double? {
        guard let ffprobe = Programs.path(of: "ffprobe") else { return nil }
        let answer = "\(folder)/ffprobe.txt"
        let descriptor = open(answer, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        let arguments = [
            "-v", "error", "-protocol_whitelist", "file", "-format_whitelist",
            MediaContainer.mediaFormats.joined(separator: ","), "-show_entries", "format=duration", "-of",
            "default=noprint_wrappers=1:nokey=1", "-i", "file:\(file)",
        ]
        let surroundings = RunningProgram.Surroundings(
            environment: ProcessInfo.processInfo.environment, output: descriptor)
        guard
            let program = try? RunningProgram(
                ffprobe, arguments: arguments, errors: "\(folder)/ffprobe.log", surroundings: surroundings)
        else { return nil }
        let code = await program.wait(ending: SIGKILL)
        try Task.checkCancellation()
        guard code == 0, let data = FileManager.default.contents(atPath: answer) else { return nil }
        return Double(String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    }
}
