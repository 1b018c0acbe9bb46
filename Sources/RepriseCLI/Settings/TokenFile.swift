import Foundation
import Primitives
import Reprise
import RepriseProxy

/// A file of tokens, each with the name of those who use it.
///
/// Messages show nothing of a line, because a word in the wrong place may be a token.
enum TokenFile {
    /// Most tokens of a file: each request is compared with all of them.
    private static let most = 256
    /// The tokens in the file at `path`; none of them may be `single`, the server's token without a name.
    ///
    /// Throws a reason with code 64.
    static func read(_ path: String, besides single: String?) throws -> [AccessToken] {
        let bytes = try PrivateFile.read(path, for: "token-file", content: "a name and a token on each line")
        return try tokens(in: bytes, of: (path as NSString).expandingTildeInPath.printable, besides: single)
    }

    /// The tokens in `bytes` of the file called `name`.
    static func tokens(in bytes: [UInt8], of name: String, besides single: String? = nil) throws -> [AccessToken] {
        guard let text = String(utf8: bytes) else {
            throw ConfigurationFile.reason("\(name) is no text in UTF-8; it takes a name and a token on each line.")
        }
        var tokens: [AccessToken] = []
        var taken: [String: Int] = [:]
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = line.split { $0 == " " || $0 == "\t" }.map(String.init)
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            func objection(_ text: String) -> any Error { ConfigurationFile.reason("\(name):\(index + 1): \(text)") }
            guard words.count > 1 else { throw objection("A line is a name and a token, such as: anna TOKEN") }
            guard ServerOptions.isName(first) else {
                throw objection("A name takes up to 64 letters, digits and - . _ ~ only.")
            }
            guard ServerOptions.goesThroughURLs(words[1]), words[1].utf8.count >= ServerOptions.shortestToken
            else {
                throw objection(
                    "A token takes \(ServerOptions.shortestToken) or more letters, digits and - . _ ~ only.")
            }
            guard words[1] != single else { throw objection("This token is the one of --token; take another.") }
            for (key, kind) in [("name \(first)", "name"), ("token \(words[1])", "token")] {
                if let other = taken.updateValue(index + 1, forKey: key) {
                    throw objection("The \(kind) stands in line \(other), too; each has its own.")
                }
            }
            guard let rights = Rights(words.dropFirst(2)) else {
                throw objection(
                    "Behind the token may stand control, browse, connections=NUMBER (1 to 10000) and rate=RATE (such as 20Mbit), each once."
                )
            }
            tokens.append(
                AccessToken(
                    words[1], name: first, mayControl: rights.mayControl, mayBrowse: rights.mayBrowse,
                    mostAnswers: rights.connections, rate: rights.rate))
        }
        guard !tokens.isEmpty else {
            throw ConfigurationFile.reason("\(name) has no token; write a name and a token on each line.")
        }
        guard tokens.count <= most else { throw ConfigurationFile.reason("\(name) has more than \(most) tokens.") }
        return tokens
    }

    /// What stands behind a token.
    private struct Rights {
        var mayControl = false
        var mayBrowse = false
        var connections: Int?
        var rate: Int64?

        /// `nil` for words that mean nothing, or stand there twice.
        init?(_ words: ArraySlice<String>) {
            for word in words {
                if word == "control", !mayControl {
                    mayControl = true
                } else if word == "browse", !mayBrowse {
                    mayBrowse = true
                } else if word.hasPrefix("connections="), connections == nil,
                    let number = Int(word.dropFirst("connections=".count)), (1...10_000).contains(number)
                {
                    connections = number
                } else if word.hasPrefix("rate="), rate == nil,
                    let bytes = DownloadOptions.bytesPerSecond(String(word.dropFirst("rate=".count)))
                {
                    rate = bytes
                } else {
                    return nil
                }
            }
        }
    }
}
