import ArgumentParser
import HTTPSemantics
import Playlists
import Reprise
import RepriseStreams

/// Writes stored files and streams out.
struct Exporter: Sendable {
    let cache: CacheOptions
    let names: Names
    let output: Output
    let stream: StreamOptions
    /// Whether the result is printed as JSON.
    let isJSON: Bool

    /// The kind of output.
    private enum Form {
        case file
        case folder
        case media(MediaContainer, ffmpeg: String)
    }

    private struct Report: Encodable {
        let output: String
        let kind: String
        let files: Int
        let bytes: Int64
        /// What to play in a folder.
        var playlist: String?
    }

    /// Writes the stored bytes of `url`; a signal ends that.
    func export(_ url: String, _ signals: StopSignals) async throws {
        let inspector = try await cache.inspector()
        let entry = try names.entry(url, in: inspector)
        let files = try StoredFiles(inspector, policy: names.policy)
        let report: Report
        switch try form(of: entry, in: files) {
        case .file: report = try await writeFile(entry, of: inspector, signals)
        case .folder:
            let export = try export(of: entry, in: files, by: stream.isGiven ? narrowed(subtitles: .all) : nil)
            let writer = StreamWriter(export: export, output: output, signals: signals)
            try await finishing(signals) { try await writer.writeFolder() }
            report = Report(
                output: output.name, kind: "folder", files: export.fileCount, bytes: export.byteCount,
                playlist: export.playlistName)
        case .media(let container, let ffmpeg):
            let takesTexts = !container.isSound && StreamExport.isHLS(entry, in: files)
            let export = try export(of: entry, in: files, by: narrowed(subtitles: takesTexts ? .all : .none))
            let writer = StreamWriter(export: export, output: output, signals: signals)
            let bytes = try await finishing(signals) {
                try await writer.writeFile(as: container, withSubtitles: stream.subtitles != nil, ffmpeg: ffmpeg)
            }
            report = Report(output: output.name, kind: "media", files: 1, bytes: bytes)
            warnOfSubtitles(of: export, in: container)
        }
        try show(report)
    }

    /// The kind of output for a stream, by the name of the output; other media are written unchanged.
    private func form(of entry: CacheEntry, in files: StoredFiles) throws -> Form {
        let isPlaylist = ["m3u8", "m3u", "mpd"].contains(output.nameExtension)
        guard !output.isInPlace, !isPlaylist, StreamExport.isStream(entry, in: files) else {
            guard !stream.isGiven else {
                throw ValidationError(
                    "--quality, --codec, --audio and --subtitles go with a stream that is written as a folder or as one media file."
                )
            }
            let type = MediaType(entry.information.mediaType)?.essence
            if !output.isInPlace, MediaContainer(extension: output.nameExtension) != nil,
                PlaylistFormat.isDeclared(by: type, name: entry.url.lastPathComponent)
            {
                throw Failure.Reason(
                    code: ExitCode(64), name: "\(RepriseError.Code.invalidArgument)",
                    message:
                        "\(entry.url.redacted) is a list of files. Export its files one by one, or name a .m3u file.")
            }
            return .file
        }
        guard let container = MediaContainer(extension: output.nameExtension) else { return .folder }
        if stream.subtitles != nil, container.subtitles == nil {
            throw ValidationError("A .\(output.nameExtension) file takes no subtitles. Name an .mkv or .mp4 file.")
        }
        guard let ffmpeg = Programs.path(of: "ffmpeg") else {
            throw Failure.Reason(
                code: ExitCode(127), name: "noProgram",
                message:
                    "ffmpeg is not installed, and only with it a stream becomes one file. Install it, or name a folder: "
                    + "--output \(output.nameWithoutExtension)")
        }
        return .media(container, ffmpeg: ffmpeg)
    }

    /// Says which subtitles are not in the file, and why.
    private func warnOfSubtitles(of export: StreamExport, in container: MediaContainer) {
        let left = export.subtitles.filter { container.subtitles == nil || !$0.isText }
        guard !left.isEmpty else { return }
        let names = left.map { ($0.language ?? $0.name ?? $0.path).printable }.joined(separator: ", ")
        let reason =
            container.subtitles == nil
            ? "a .\(output.nameExtension) file takes none. Name an .mkv or .mp4 file"
            : "they are no WebVTT texts. A name without extension writes them in a folder"
        Terminal.error("reprise: \(output.name) is without the subtitles (\(names)): \(reason).")
    }

    /// The selection of the options; without an option, everything is selected, except for subtitles.
    private func narrowed(subtitles: StreamSelection.Languages) throws -> StreamSelection {
        var selection = try stream.selection()
        if stream.audio == nil { selection.audio = .all }
        if stream.subtitles == nil { selection.subtitles = subtitles }
        return selection
    }

    private func export(
        of entry: CacheEntry, in files: StoredFiles, by selection: StreamSelection?
    ) throws -> StreamExport {
        do throws(RepriseError) {
            guard let export = try StreamExport(of: entry, in: files, selection: selection) else {
                throw RepriseError(.notStored, "The playlist of \(entry.url.redacted) is gone. Fetch it again.")
            }
            return export
        } catch {
            guard error.code == .notStored, let reason = Failure.reason(error) else { throw error }
            throw Failure.Reason(
                code: reason.code, name: reason.name,
                message: "\(reason.message) Command: reprise download \(entry.url.redacted)")
        }
    }

    private func writeFile(
        _ entry: CacheEntry, of inspector: CacheInspector, _ signals: StopSignals
    ) async throws -> Report {
        try await finishing(signals) {
            let file = try await output.open(signals)
            do {
                // All of it on one thread: a pipe may be read slowly, or not at all.
                try await onThread { try inspector.read(entry) { try file.write($0) } }
                try file.finish()
            } catch {
                file.discard()
                throw error
            }
        }
        return Report(output: output.name, kind: "file", files: 1, bytes: entry.storedBytes)
    }

    /// Runs `work`, which a signal ends.
    private func finishing<T: Sendable>(
        _ signals: StopSignals, _ work: @escaping @Sendable () async throws -> T
    ) async throws -> T {
        try signals.get(
            await signals.interrupting(work).mapError { error in
                guard error is CancellationError else { return error }
                return StopSignals.Interruption(
                    message: "Stopped. \(output.name) is not whole; run the same command again.")
            })
    }

    private func show(_ report: Report) throws {
        if isJSON { return try Terminal.printJSON(report) }
        let playlist = report.playlist.map { " in \(report.files) files; play \(output.name)/\($0)" } ?? ""
        try output.print("\(output.name)  \(ByteCount(report.bytes))\(playlist)")
    }
}
