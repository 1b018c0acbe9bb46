/// Who sent a request, as its token says.
struct Sender: Sendable {
    let holder: TokenHolder
    /// Whether the token is the first segment of the path; otherwise it is in `Authorization`.
    let isInPath: Bool
}

extension ClientHead {
    /// The token in the path; `nil` without one.
    var pathToken: String? {
        guard let sender, sender.isInPath else { return nil }
        return sender.holder.token.text
    }

    /// What the request's target, and those of links to this proxy, have before `/https/host/path`.
    var pathPrefix: String { pathToken.map { "/\($0)" } ?? "" }
}
