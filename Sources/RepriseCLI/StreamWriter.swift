import ArgumentParser
import Foundation
import Primitives
import Reprise
import RepriseStreams

/// Writes a stored stream: as a folder, or through ffmpeg as one file.
struct StreamWriter: Sendable {
    let export: StreamExport
    let output: Output
    let signals: StopSignals

    /// Writes the folder.
    func writeFolder() async throws {
        let folder = try output.openFolder(signals)
        try await write(into: folder)
        do { try folder.finish() } catch {
            folder.discard()
            throw error
        }
    }

    /// Writes one file, from a folder that goes when it is done; returns its size in bytes.
    func writeFile(as container: MediaContainer, withSubtitles: Bool, ffmpeg: String) async throws -> Int64 {
        let file = try await output.open(signals)
        do {
            guard let temporary = file.temporaryPath else {
                throw Failure.Reason(
                    code: ExitCode(73), name: "outputUnavailable",
                    message: "\(output.name) is no place for a media file of a stream. Name a regular file.")
            }
            let folder = try output.openWorkingFolder(signals)
            defer { folder.discard() }
            try await write(into: folder)
            let playlist = "\(folder.temporaryPath)/\(export.playlistName)"
            let texts = try await onThread {
                try failingAsOutput {
                    try renameLanguages(in: playlist, for: container)
                    return container.subtitles == nil ? [] : try joinedTexts(in: folder.temporaryPath)
                }
            }
            let arguments = container.arguments(
                from: playlist, texts: texts, to: temporary, withSubtitles: withSubtitles)
            try await run(ffmpeg, arguments, writing: temporary, log: "\(folder.temporaryPath)/ffmpeg.log")
            let size = Self.size(of: temporary)
            try file.finish()
            return size
        } catch {
            file.discard()
            throw error
        }
    }

    /// Runs `work`, which prepares what ffmpeg reads.
    private func failingAsOutput<T>(_ work: () throws -> T) throws -> T {
        do { return try work() } catch {
            throw Failure.Reason(
                code: ExitCode(74), name: "outputFailed",
                message: "What is needed for \(output.name) cannot be written: \(error.localizedDescription)")
        }
    }

    /// ffmpeg gives tracks the languages of the outermost playlist as they are written there.
    private func renameLanguages(in playlist: String, for container: MediaContainer) throws {
        guard container.languages != .tag else { return }
        let file = URL(fileURLWithPath: playlist)
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        try Data(container.languages.renamed(in: text).utf8).write(to: file)
    }

    /// Joins the segments of each rendition with WebVTT; the texts are in `folder`, as the export is.
    private func joinedTexts(in folder: String) throws -> [MediaContainer.Text] {
        try export.subtitles.filter(\.isText).enumerated().map { number, subtitles in
            let playlist = URL(fileURLWithPath: "\(folder)/\(subtitles.path)")
            let lines = String(decoding: try Data(contentsOf: playlist), as: UTF8.self)
                .split(whereSeparator: \.isNewline)
            var text = SubtitleText()
            for line in lines where !line.hasPrefix("#") {
                // Links of an export are relative, and names in it need no escapes.
                let segment = playlist.deletingLastPathComponent().appendingPathComponent(String(line))
                // A gap has no file.
                guard let bytes = FileManager.default.contents(atPath: segment.standardizedFileURL.path) else {
                    continue
                }
                text.add(String(decoding: bytes, as: UTF8.self))
            }
            let path = "\(folder)/subtitles-\(number + 1).vtt"
            try Data(text.text.utf8).write(to: URL(fileURLWithPath: path))
            return MediaContainer.Text(path: path, language: subtitles.language)
        }
    }

    private func write(into folder: OutputFolder) async throws {
        let bar = ExportBar(total: export.byteCount)
        defer { bar.end() }
        try await export.write(into: folder) { bar.show($0) }
    }

    private static func size(of path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }

    /// Returns when the file at `path` has not grown for as long as ffmpeg is waited for.
    ///
    /// Throws `CancellationError` when the task is canceled.
    private static func waitUntilStuck(_ path: String) async throws {
        var watch = GrowthWatch()
        while !watch.isStuck(size: size(of: path)) { try await Task.sleep(for: GrowthWatch.interval) }
    }

    /// Most lines of ffmpeg's that are shown.
    private static let shownLines = 8

    private func run(_ ffmpeg: String, _ arguments: [String], writing path: String, log: String) async throws {
        if Terminal.isInteractive { Terminal.error("reprise: ffmpeg writes \(output.name)") }
        let program = try RunningProgram(ffmpeg, arguments: arguments, errors: log)
        let watch = Task {
            try await Self.waitUntilStuck(path)
            program.send(SIGKILL)
        }
        // What it has written goes anyway, and in some loops it does not heed SIGTERM.
        let code = await program.wait(ending: SIGKILL)
        watch.cancel()
        try Task.checkCancellation()
        guard code != 0 else { return }
        if case .success = await watch.result {
            throw Failure.Reason(
                code: ExitCode(1), name: "ffmpegFailed",
                message: "ffmpeg was ended, because it has written nothing of \(output.name) for "
                    + "\(GrowthWatch.patience) s. A name without extension writes the stream as a folder."
            )
        }
        let text = FileManager.default.contents(atPath: log).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let lines = text.split(whereSeparator: \.isNewline).suffix(Self.shownLines).map { "  \(String($0).printable)" }
        throw Failure.Reason(
            code: ExitCode(1), name: "ffmpegFailed",
            message: ([
                "ffmpeg cannot write \(output.name) (exit code \(code)). Another container such as .mkv may take "
                    + "the stream, and a name without extension writes it as a folder."
            ] + lines).joined(separator: "\n"))
    }
}

/// A bar on a terminal, nothing elsewhere.
private final class ExportBar: Sendable {
    private let total: Int64
    private let isShown: Bool
    private let percent = Mutex(-1)

    init(total: Int64) {
        self.total = total
        isShown = Terminal.isInteractive && total > 0
    }

    func show(_ bytes: Int64) {
        guard isShown else { return }
        let now = Int(Double(bytes) / Double(total) * 100)
        let isNew = percent.withLock { percent in
            defer { percent = now }
            return percent != now
        }
        guard isNew else { return }
        Terminal.replaceLine(
            "[\(Bar.progress(Double(bytes) / Double(total), width: 40))]  \(ByteCount(bytes))/\(ByteCount(total))")
    }

    func end() {
        if isShown { Terminal.replaceLine("") }
    }
}
