import ArgumentParser
import Foundation
import Primitives
import Reprise

/// Where `fetch` and `export` write.
struct Output: Sendable {
    private let path: String
    private let isForced: Bool
    /// The directory of the cache, whose own files are no outputs.
    private let cacheDirectory: String

    /// Whether it is written from beginning to end as it is: standard output, a pipe, a device.
    var isInPlace: Bool {
        if path == "-" || OutputFile.descriptor(ledToBy: path) != nil { return true }
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        return status.st_mode & S_IFMT != S_IFREG && status.st_mode & S_IFMT != S_IFDIR
    }

    /// The extension of the name, in lower case; empty without one, and for the name of a folder (`film.mp4/`).
    var nameExtension: String { path.hasSuffix("/") ? "" : (path as NSString).pathExtension.lowercased() }

    /// The name in messages, without its extension.
    var nameWithoutExtension: String { (path as NSString).deletingPathExtension.printable }

    init(_ path: String, force: Bool, cache: CacheOptions) throws {
        self.path = path
        isForced = force
        cacheDirectory = try cache.directory
    }

    /// Whether media goes to standard output, where nothing else may go then.
    var isStandardOutput: Bool { Self.isStandardOutput(path) }

    /// The same of the output at `path`.
    static func isStandardOutput(_ path: String) -> Bool {
        path == "-" || OutputFile.descriptor(ledToBy: path) == STDOUT_FILENO
    }

    /// Throws if media would go to standard output and that is a terminal.
    static func refuseTerminal(_ path: String) throws(ValidationError) {
        guard isStandardOutput(path), Terminal.isTerminal(STDOUT_FILENO) else { return }
        throw ValidationError(
            "Media in a terminal is unreadable. Send it to a file (--output - > FILE) or to a program (--output - | PROGRAM)."
        )
    }

    /// The name in messages.
    var name: String { isStandardOutput ? "standard output" : path.printable }

    /// Prepares the file; waits for a reader where it is a pipe.
    func open(_ signals: StopSignals) async throws -> OutputFile {
        let isWaiting = Mutex(false)
        let file: OutputFile
        do {
            file = try await make { isWaiting.withLock { $0 = true } }
        } catch is CancellationError {
            let moment = isWaiting.withLock { $0 } ? "while it waited for a reader of" : "before it wrote"
            throw StopSignals.Interruption(message: "Stopped \(moment) \(name); nothing was done.")
        }
        signals.watch { file.discard() }
        return file
    }

    /// Prepares the folder.
    func openFolder(_ signals: StopSignals) throws -> OutputFolder {
        try refuseCacheFiles()
        let folder = try OutputFolder(path: path, existing: isForced ? .replaced : .kept)
        signals.watch { folder.discard() }
        return folder
    }

    /// Makes a hidden folder beside the output, for files that are needed while it is written.
    func openWorkingFolder(_ signals: StopSignals) throws -> OutputFolder {
        let folder = try OutputFolder(beside: path)
        signals.watch { folder.discard() }
        return folder
    }

    /// Throws if the output exists and may not be replaced, is a file of the cache, or cannot be created.
    func check() throws {
        try refuseCacheFiles()
        guard !isInPlace else { return }
        if !isForced, FileManager.default.fileExists(atPath: path) { throw OutputFile.exists(name) }
        try OutputFolder(beside: path).discard()
    }

    private func refuseCacheFiles() throws {
        guard OutputFile.isOfCache(path, in: cacheDirectory) else { return }
        throw Failure.Reason(
            code: ExitCode(73), name: "outputUnavailable",
            message: "\(name) is a file of the cache itself. Name a file elsewhere.")
    }

    /// `onWait` is called before a reader is waited for.
    private func make(_ onWait: @escaping @Sendable () -> Void) async throws -> OutputFile {
        if path == "-" { return OutputFile(descriptor: STDOUT_FILENO, name: name) }
        try refuseCacheFiles()
        return try await onThread { [path, isForced] in
            try OutputFile(path: path, existing: isForced ? .replaced : .kept) {
                onWait()
                Terminal.error("reprise: waiting for a reader of \(path.printable)")
            }
        }
    }

    /// Says how it ended, where that does not get into the media.
    func print(_ line: String) throws(OutputFile.Failure) {
        if isStandardOutput { Terminal.error(line) } else { try Terminal.print(line) }
    }
}

/// The options of the subcommands that write a media file.
struct OutputOptions: ParsableArguments {
    @Flag(
        name: .shortAndLong,
        help:
            "Replace what --output names, if it is there, even if it may not be written; a folder only if an export wrote it."
    )
    var force = false
}

extension OutputFile {
    /// Writes `bytes`; where something else has to read them, a task that is canceled does not wait for that.
    func append(_ bytes: [UInt8]) async throws {
        if isDirect { try await onThread { try self.write(bytes) } } else { try write(bytes) }
    }
}
