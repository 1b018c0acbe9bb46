import Foundation
import HTTPTypes
import Primitives
import Reprise

/// A file of request fields that log in at a host, which only its owner may read.
enum HeaderFile {
    /// The fields in the file at `path`, each on a line; blank lines and lines that begin with `#` are skipped.
    ///
    /// `setting` names it, with its place if it has one. Throws a reason with code 64, which shows nothing of the
    /// content.
    static func read(_ path: String, for setting: String = "header-file") throws -> HTTPFields {
        let bytes = try PrivateFile.read(path, for: setting, content: "a request field on each line")
        return try fields(in: bytes, of: (path as NSString).expandingTildeInPath.printable)
    }

    /// The fields in `bytes` of the file called `name`.
    static func fields(in bytes: [UInt8], of name: String) throws -> HTTPFields {
        guard let text = String(utf8: bytes) else {
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
