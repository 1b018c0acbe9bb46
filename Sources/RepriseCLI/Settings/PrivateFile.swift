import Foundation
import Reprise

/// Reads files with secrets, which only their owner may read.
enum PrivateFile {
    /// Most bytes of a file.
    private static let largest = 64 << 10

    /// The bytes of the file at `path`, which `setting` names; `content` is what it has, for people.
    ///
    /// Throws a reason with code 64, which shows nothing of the content.
    static func read(_ path: String, for setting: String, content: String) throws -> [UInt8] {
        let path = (path as NSString).expandingTildeInPath
        do throws(RepriseError) {
            return try SmallFile.read(
                path == "-" ? "./-" : path, named: path.printable, limit: largest, content: content,
                isPrivate: true)
        } catch { throw ConfigurationFile.reason("\(setting): \(error.message)") }
    }

    /// Throws unless the open file belongs to this user or to root, and others have nothing to do with it.
    ///
    /// Its group may read it: systemd's credentials have an entry for the service, which stands there.
    static func check(_ descriptor: Int32, of name: String) throws(RepriseError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw RepriseError(.invalidArgument, "\(name) cannot be examined: \(String(cString: strerror(errno))).")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw RepriseError(.invalidArgument, "\(name) is no regular file.")
        }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw RepriseError(.invalidArgument, "\(name) belongs to another user; give it to the user of the server.")
        }
        guard status.st_mode & 0o027 == 0 else {
            throw RepriseError(
                .invalidArgument, "Other users have access to \(name). Take it from them: chmod 600 \(name)")
        }
    }
}
