/// Rules for what the server is given.
enum ServerOptions {
    /// Whether a token goes through URLs letter for letter (RFC 3986 §2.3).
    static func goesThroughURLs(_ token: String) -> Bool {
        let isUnreserved = token.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                true
            default: false
            }
        }
        return isUnreserved && !token.isEmpty && token != "." && token != ".."
    }

    /// Fewest characters of a token that others may guess.
    static let shortestToken = 8

    /// Whether `token` is easily guessed.
    static func isWeak(_ token: String) -> Bool { token.utf8.count < shortestToken || token.lowercased() == "password" }

    /// Whether a server, or those who use it, may be called so.
    static func isName(_ text: String) -> Bool { goesThroughURLs(text) && text.utf8.count <= 64 }
}
