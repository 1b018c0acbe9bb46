import Foundation
import Reprise

/// Reads files that people write.
enum SmallFile {
    /// The bytes of the file at `path`, at most `limit`; - stands for standard input.
    ///
    /// `content` describes the content in error messages. Waits for the end of a pipe. If `isPrivate` is true, the file
    /// must be a regular one that only its owner may read. Throws ``RepriseError`` with code `invalidArgument` if it
    /// cannot be read or is too long.
    static func read(
        _ path: String, named name: String, limit: Int, content: String,
        isPrivate: Bool = false
    ) throws(RepriseError) -> [UInt8] {
        let flags = O_RDONLY | O_CLOEXEC | (isPrivate ? O_NONBLOCK : 0)
        let descriptor = path == "-" ? STDIN_FILENO : open(path, flags)
        guard descriptor >= 0 else { throw cannotRead(name) }
        defer { if path != "-" { close(descriptor) } }
        if isPrivate { try PrivateFile.check(descriptor, of: name) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Foundation.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw cannotRead(name) }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= limit else {
                let size = limit < 1 << 20 ? "\(limit >> 10) KiB" : "\(limit >> 20) MiB"
                throw RepriseError(.invalidArgument, "\(name) is longer than \(size); it takes \(content).")
            }
        }
    }

    private static func cannotRead(_ name: String) -> RepriseError {
        RepriseError(.invalidArgument, "Cannot read \(name): \(String(cString: strerror(errno))).")
    }
}
