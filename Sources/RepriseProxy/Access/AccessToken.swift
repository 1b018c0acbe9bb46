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
}
