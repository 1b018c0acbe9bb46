import Crypto
import Foundation

/// A text that lets those who know it use a server, and what they may do there.
package struct AccessToken: Sendable {
    /// The text, which is part of URLs and of request fields.
    let text: String
    /// The name of those who use it, for logs and metrics, and the user of Basic; `nil` for the server's single token.
    package let name: String?
    /// Whether it is enough to look after the server; otherwise it is for playing only.
    let mayControl: Bool
    /// Whether it is enough to read the list of titles for players.
    let mayBrowse: Bool
    /// Most files that are being sent at once; `nil` for any number.
    let mostAnswers: Int?
    /// Most bytes per second of all their answers together; `nil` for as fast as it goes.
    let rate: Int64?

    /// A token with this text.
    package init(
        _ text: String, name: String?, mayControl: Bool, mayBrowse: Bool = false, mostAnswers: Int? = nil,
        rate: Int64? = nil
    ) {
        (self.text, self.name, self.mayControl, self.mayBrowse) = (text, name, mayControl, mayBrowse)
        (self.mostAnswers, self.rate) = (mostAnswers, rate)
    }
    /// A token for playing that the page and the list of titles show in place of this one; `nil` if this one cannot
    /// control the server.
    ///
    /// It allows playing and reading the list. It is derived from this token and shares its limits.
    var forPlayers: AccessToken? {
        guard mayControl else { return nil }
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("reprise players".utf8), using: SymmetricKey(data: Data(text.utf8)))
        let derived = code.prefix(16).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
        return AccessToken(
            derived, name: name, mayControl: false, mayBrowse: true, mostAnswers: mostAnswers, rate: rate)
    }
}
