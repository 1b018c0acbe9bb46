import ArgumentParser
import Foundation
import Reprise

/// Where `fetch` and `export` write a media file.
struct Output: Sendable {
    private let path: String
    private let isForced: Bool
    /// The directory of the cache, whose own files are no outputs.
    private let cacheDirectory: String

    init(_ path: String, force: Bool, cache: CacheOptions) {
        self.path = path
        isForced = force
        cacheDirectory = cache.directory
    }

    /// Whether media goes to standard output, where nothing else may go then.
    var isStandardOutput: Bool { path == "-" || OutputFile.descriptor(ledToBy: path) == STDOUT_FILENO }

    /// The name in messages.
    var name: String { isStandardOutput ? "standard output" : path.printable }

    /// Prepares the file; waits for a reader where it is a pipe.
    func open(_ signals: StopSignals) async throws -> OutputFile {
        let file: OutputFile
        do {
            file = try await make()
        } catch is CancellationError {
            throw StopSignals.Interruption(
                message: "Stopped while it waited for a reader of \(name); nothing was done.")
        }
        signals.watch(file)
        return file
    }

    private func make() async throws -> OutputFile {
        if path == "-" { return OutputFile(descriptor: STDOUT_FILENO, name: name) }
        if OutputFile.isOfCache(path, in: cacheDirectory) {
            throw Failure.Reason(
                code: ExitCode(73), name: "outputUnavailable",
                message: "\(name) is a file of the cache itself. Name a file elsewhere.")
        }
        return try await onThread { [path, isForced] in
            try OutputFile(path: path, existing: isForced ? .replaced : .kept) {
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
        help: "Replace the file that --output names, if it is there, even if it may not be written.")
    var force = false
}

extension OutputFile {
    /// Writes `bytes`; where something else has to read them, a task that is canceled does not wait for that.
    func append(_ bytes: [UInt8]) async throws {
        if isDirect { try await onThread { try self.write(bytes) } } else { try write(bytes) }
    }
}
