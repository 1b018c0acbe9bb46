import ArgumentParser
import Foundation

/// What the environment says of the server.
enum ServerOptions {
    /// The port; `nil` if nothing is said.
    static func port() throws -> Int? {
        guard let text = CacheOptions.environment["REPRISE_PORT"] else { return nil }
        guard let port = Int(text), (0...65_535).contains(port) else {
            throw ValidationError("REPRISE_PORT is \"\(text)\"; it must be 0 to 65535.")
        }
        return port
    }

    /// The token; `nil` if nothing is said.
    static func token() throws -> String? {
        guard let text = ProcessInfo.processInfo.environment["REPRISE_TOKEN"] else { return nil }
        try check(token: text, of: "REPRISE_TOKEN")
        return text
    }

    /// Refuses a token that does not go through URLs letter for letter (RFC 3986 §2.3).
    static func check(token: String, of option: String) throws {
        let isUnreserved = token.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                true
            default: false
            }
        }
        guard isUnreserved, !token.isEmpty, token != ".", token != ".." else {
            throw ValidationError("\(option) takes letters, digits and - . _ ~ only, because it is part of URLs.")
        }
    }
}
