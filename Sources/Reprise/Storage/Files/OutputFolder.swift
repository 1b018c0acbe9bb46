import Foundation
import Primitives

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A folder outside the cache, named by the caller, that appears when all of its files are written.
///
/// Until then it is a hidden folder with a random name beside its place. A symbolic link is preserved: its target is
/// written. A folder for which ``finish()`` was not called leaves nothing behind.
package final class OutputFolder: Sendable {
    /// The name given by the caller.
    package let name: String
    /// Where the files are until the folder takes its name.
    package let temporaryPath: String
    private let destination: String
    private let existing: OutputFile.Existing

    private struct State {
        var hasEnded = false
        /// What was written, relative to the folder.
        var files: [String] = []
    }
    private let state = Mutex(State())

    /// Prepares the folder at `path`.
    ///
    /// An empty folder may be there. One that an earlier ``OutputFolder`` wrote, and that holds nothing else, is
    /// replaced if `existing` says so. Throws ``OutputFile/Failure``: `exists` for such a folder that has to stay, and
    /// `cannotCreate` for everything else.
    package init(path: String, existing: OutputFile.Existing) throws(OutputFile.Failure) {
        name = path
        self.existing = existing
        destination = try OutputFile.end(ofLink: path.withoutTrailingSlashes)
        let last = destination.split(separator: "/").last
        guard let last, last != ".", last != ".." else {
            throw OutputFile.Failure(.cannotCreate, "\(path) cannot be replaced. Name a folder in it.")
        }
        try Self.check(destination, named: path, existing: existing)
        temporaryPath = try Self.makeFolder(in: OutputFile.directory(of: destination), for: path)
    }

    /// Makes a folder beside `path` that only holds files for as long as they are needed.
    package init(beside path: String) throws(OutputFile.Failure) {
        (name, existing) = (path, .kept)
        temporaryPath = try Self.makeFolder(
            in: OutputFile.directory(of: try OutputFile.end(ofLink: path)), for: path)
        destination = temporaryPath
    }

    deinit { discard() }

    /// Writes the file `file`, a path relative to the folder, with the bytes that `body` passes on, at any positions.
    ///
    /// The file is `length` bytes long in the end, with zeros where nothing was written. Rethrows errors of `body`.
    package func write(
        _ file: String, length: Int64, _ body: ((_ position: Int64, _ bytes: [UInt8]) throws -> Void) throws -> Void
    ) throws {
        let descriptor = try make(file)
        var isOpen = true
        defer { if isOpen { close(descriptor) } }
        try body { position, bytes in try self.write(bytes, at: position, to: descriptor) }
        guard ftruncate(descriptor, off_t(length)) == 0 else { throw OutputFile.failure(name, code: errno) }
        isOpen = false
        guard close(descriptor) == 0 else { throw OutputFile.failure(name, code: errno) }
    }

    /// Gives the folder its name.
    package func finish() throws {
        try write(FolderMark.name, text: FolderMark.text(of: state.withLock { $0.files }))
        if rename(temporaryPath, destination) != 0 {
            guard errno == ENOTEMPTY || errno == EEXIST else { throw OutputFile.failure(name, code: errno) }
            // One that appeared while this one was written has to be of the same kind.
            try Self.check(destination, named: name, existing: existing)
            try replace()
        }
        state.withLock { $0.hasEnded = true }
    }

    /// Removes the unfinished folder; may be called from any thread.
    ///
    /// Does nothing once the folder is finished. Files that are being written fail after that.
    package func discard() {
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.hasEnded = true
            // What cannot be removed stays hidden under its random name.
            try? FileManager.default.removeItem(atPath: temporaryPath)
        }
    }

    // MARK: - Replacing

    private static func check(
        _ destination: String, named path: String, existing: OutputFile.Existing
    ) throws(OutputFile.Failure) {
        var status = stat()
        guard stat(destination, &status) == 0 else {
            guard errno == ENOENT else { throw OutputFile.refusal(path, code: errno) }
            return
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw OutputFile.Failure(.cannotCreate, "\(path) is a file, and no folder. Name a folder.")
        }
        switch FolderMark.content(of: destination) {
        case .empty: return
        case .written: if existing == .kept { throw OutputFile.exists(path) }
        case .foreign(let other):
            throw OutputFile.Failure(
                .cannotCreate,
                "\(path) holds what no export wrote (\(other)), so it is not replaced. Name a folder that does not exist."
            )
        }
    }

    /// Puts this folder in the place of an older one, which is only removed once that has worked.
    private func replace() throws(OutputFile.Failure) {
        let old = "\(OutputFile.directory(of: destination))/\(Self.randomName())"
        guard rename(destination, old) == 0 else { throw OutputFile.failure(name, code: errno) }
        do throws(OutputFile.Failure) {
            // Under this name other programs put nothing more into it.
            try Self.check(old, named: name, existing: existing)
            guard rename(temporaryPath, destination) == 0 else { throw OutputFile.failure(name, code: errno) }
        } catch {
            _ = rename(old, destination)
            throw error
        }
        FolderMark.remove(old)
    }

    // MARK: - Writing

    private static func randomName() -> String {
        ".reprise-\(String(UInt64.random(in: .min ... .max), radix: 16)).part"
    }

    private static func makeFolder(in directory: String, for name: String) throws(OutputFile.Failure) -> String {
        while true {
            let path = "\(directory)/\(randomName())"
            if mkdir(path, 0o777) == 0 { return path }
            if errno != EEXIST { throw OutputFile.refusal(name, code: errno) }
        }
    }

    /// Creates a file, and the folder that it lies in; not once this folder is discarded.
    private func make(_ file: String) throws(OutputFile.Failure) -> Int32 {
        let path = "\(temporaryPath)/\(file)"
        let result = state.withLock { state -> Result<Int32, OutputFile.Failure> in
            guard !state.hasEnded else { return .failure(OutputFile.failure(name, code: ECANCELED)) }
            if let slash = file.lastIndex(of: "/") {
                let folder = "\(temporaryPath)/\(file[..<slash])"
                guard mkdir(folder, 0o777) == 0 || errno == EEXIST else {
                    return .failure(OutputFile.failure(name, code: errno))
                }
            }
            let descriptor = OutputFile.open(path, flags: O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode: 0o666)
            guard descriptor >= 0 else { return .failure(OutputFile.failure(name, code: errno)) }
            state.files.append(file)
            return .success(descriptor)
        }
        return try result.get()
    }

    private func write(_ bytes: [UInt8], at position: Int64, to descriptor: Int32) throws(OutputFile.Failure) {
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress, $0.count, off_t(position) + off_t(written))
            }
            if count >= 0 {
                written += count
            } else if errno != EINTR {
                throw OutputFile.failure(name, code: errno)
            }
        }
    }
}

extension OutputFolder {
    /// Writes the file `file` with `text` in it.
    package func write(_ file: String, text: [UInt8]) throws {
        try write(file, length: Int64(text.count)) { put in try put(0, text) }
    }
}

extension String {
    fileprivate var withoutTrailingSlashes: String {
        var text = self
        while text.count > 1, text.hasSuffix("/") { text.removeLast() }
        return text
    }
}
