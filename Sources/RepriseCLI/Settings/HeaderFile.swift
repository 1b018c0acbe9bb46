import Foundation
import HTTPTypes
import Reprise

/// A file of request fields that log in at a host, which only its owner may read.
enum HeaderFile {
    /// Most bytes of a file.
    private static let largestFile = 64 << 10

    /// The fields in the file at `path`, each on a line; blank lines and lines that begin with `#` are skipped.
    ///
    /// Throws a reason with code 64, which shows nothing of the content.
    static func read(_ path: String) throws -> HTTPFields {
        let path = (path as NSString).expandingTildeInPath
        let bytes: [UInt8]
        do throws(RepriseError) {
            bytes = try SmallFile.read(
                path == "-" ? "./-" : path, named: path.printable, limit: largestFile,
                content: "a request field on each line",
                check: { (descriptor) throws(RepriseError) in try check(descriptor, of: path.printable) })
        } catch { throw ConfigurationFile.reason("header-file: \(error.message)") }
        return try fields(in: bytes, of: path.printable)
    }

    /// Throws unless the open file belongs to this user or to root, and others have nothing to do with it.
    ///
    /// Its group may read it: systemd's credentials have an entry for the service, which stands there.
    private static func check(_ descriptor: Int32, of name: String) throws(RepriseError) {
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

    /// The fields in `bytes` of the file called `name`.
    static func fields(in bytes: [UInt8], of name: String) throws -> HTTPFields {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationFile.reason("\(name) is no text in UTF-8; it takes a request field on each line.")
        }
        var fields = HTTPFields()
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.isEmpty || line.hasPrefix("#") { continue }
            let place = "\(name):\(index + 1)"
            let parsed: HTTPFields
            do { parsed = try HeaderFields.parse([line]) } catch {
                throw ConfigurationFile.reason(
                    "\(place): A line is a request field such as Authorization: Bearer TOKEN.")
            }
            for field in parsed {
                guard !HeaderFields.isOwn(field.name) else {
                    throw ConfigurationFile.reason("\(place): \(field.name) is the server's own field; leave it out.")
                }
                fields.append(field)
            }
        }
        guard !fields.isEmpty else {
            throw ConfigurationFile.reason(
                "\(name) has no request field; write one such as Authorization: Bearer TOKEN.")
        }
        return fields
    }
}
