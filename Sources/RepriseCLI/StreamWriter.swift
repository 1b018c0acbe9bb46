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
        let periods = try self.periods(in: container)
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
            let program = FFmpeg(path: ffmpeg, output: output.name, folder: folder.temporaryPath)
            if Terminal.isInteractive { Terminal.error("reprise: ffmpeg writes \(output.name)") }
            if periods.isEmpty {
                try await writeWhole(
                    as: container, to: temporary, in: folder, withSubtitles: withSubtitles, with: program)
            } else {
                try await writeJoined(periods, as: container, to: temporary, in: folder, with: program)
            }
            let texts = export.subtitles.filter(\.isText)
            if container.enablesSubtitles, !texts.isEmpty, !texts.contains(where: \.isDefault) {
                try await onThread { try failingAsOutput { try SubtitleTracks.disable(in: temporary) } }
            }
            try await check(temporary, writtenBy: program)
            let size = FFmpeg.size(of: temporary)
            try file.finish()
            return size
        } catch {
            file.discard()
            throw error
        }
    }

    /// Writes a file of the exported stream in `folder` as it is.
    private func writeWhole(
        as container: MediaContainer, to path: String, in folder: OutputFolder, withSubtitles: Bool,
        with program: FFmpeg
    ) async throws {
        let playlist = "\(folder.temporaryPath)/\(export.playlistName)"
        try await onThread { try failingAsOutput { try renameLanguages(in: playlist, for: container) } }
        let texts = try await texts(for: container, in: folder)
        try await program.write(
            path, container.arguments(from: playlist, texts: texts, to: path, withSubtitles: withSubtitles))
    }

    /// A period, and the order of its streams in the file.
    private typealias OrderedPeriod = (period: ExportedPeriod, order: ExportedPeriod.Order)

    /// The subtitles of HLS that the file takes.
    private func texts(for container: MediaContainer, in folder: OutputFolder) async throws -> [MediaContainer.Text] {
        try await onThread {
            try failingAsOutput { container.subtitles == nil ? [] : try joinedTexts(in: folder.temporaryPath) }
        }
    }

    /// The periods of DASH, or parts of HLS, that have to be joined; none if there is only one.
    ///
    /// ffmpeg reads one period of an MPD and leaves out the rest.
    private func periods(in container: MediaContainer) throws -> [OrderedPeriod] {
        var periods = try export.periods()
        if container.isSound { periods = periods.map(\.soundAlone) }
        do throws(ExportedPeriod.Mismatch) {
            return zip(periods, try ExportedPeriod.orders(of: periods)).map { ($0, $1) }
        } catch {
            throw Failure.Reason(
                code: ExitCode(1), name: "periodsDiffer",
                message: "The stream does not fit into one file: \(error.reason). Choose what all of it "
                    + "has with --quality, --codec, --audio and --subtitles; or name a folder, which takes all: "
                    + "--output \(output.nameWithoutExtension)")
        }
    }

    /// Writes a file of each period, and joins them at `path`.
    private func writeJoined(
        _ periods: [OrderedPeriod], as container: MediaContainer, to path: String, in folder: OutputFolder,
        with program: FFmpeg
    ) async throws {
        var list = "ffconcat version 1.0\n"
        for (index, (period, order)) in periods.enumerated() {
            let name = "period-\(index + 1)"
            for playlist in period.playlists {
                let text = container.languages.renamed(in: String(decoding: playlist.bytes, as: UTF8.self))
                try folder.write(playlist.path, text: Array(text.utf8))
            }
            let part = "\(folder.temporaryPath)/\(name).part"
            try await program.write(
                part,
                container.arguments(
                    fromPeriod: "\(folder.temporaryPath)/\(period.playlistName)", order: order, to: part))
            list += "file \(name).part\n"
        }
        try folder.write("periods.txt", text: Array(list.utf8))
        let texts = try await texts(for: container, in: folder)
        try await program.write(
            path, container.arguments(joining: "\(folder.temporaryPath)/periods.txt", texts: texts, to: path))
    }

    /// Throws if the file at `path` lacks more than a segment of the stream.
    private func check(_ path: String, writtenBy program: FFmpeg) async throws {
        guard let expected = export.playingTime, let duration = try await program.duration(of: path),
            expected.isMissed(by: duration)
        else { return }
        let texts = [duration, expected.seconds].map { String(format: "%.0f s", $0) }
        throw FFmpeg.failure(
            "ffmpeg has left out a part of the stream: \(output.name) would play for \(texts[0]), and the stream "
                + "plays for \(texts[1]). No file was written.")
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
            return MediaContainer.Text(path: path, track: subtitles)
        }
    }

    private func write(into folder: OutputFolder) async throws {
        let bar = ExportBar(total: export.byteCount)
        defer { bar.end() }
        try await export.write(into: folder) { bar.show($0) }
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
