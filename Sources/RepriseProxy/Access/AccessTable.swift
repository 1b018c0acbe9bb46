import Crypto

/// The tokens of a server, which never change; others come with another table.
///
/// Tokens are compared as their SHA-256, each with all, in a time that does not tell how much of one is right. Only
/// their lengths are no secret.
final class AccessTable: Sendable {
    private struct Entry {
        let digest: SHA256.Digest
        let holder: TokenHolder
    }

    private let entries: [Entry]
    /// The names of those who use them.
    let names: [String]
    private let lengths: Set<Int>
    /// Whether clients may show a token in `Authorization`, too.
    private let takesAuthorization: Bool
    /// The tokens as texts, for those who must not show them.
    let texts: TokenTexts

    /// A table of `tokens`; holders of the same name as in `former` keep the places that they have taken.
    init(_ tokens: [AccessToken], takesAuthorization: Bool = true, after former: AccessTable? = nil) {
        let known = Dictionary(
            (former?.entries ?? []).map { ($0.holder.name, $0.holder) }, uniquingKeysWith: { first, _ in first })
        let holders = tokens.flatMap { token in
            let holder = TokenHolder(token, after: known[token.name])
            return [holder] + (token.forPlayers.map { [TokenHolder($0, after: holder)] } ?? [])
        }
        entries = holders.map { Entry(digest: Self.digest(of: $0.token.text.utf8), holder: $0) }
        names = tokens.compactMap(\.name)
        texts = TokenTexts(Set(holders.map(\.token.text)))
        lengths = Set(holders.map(\.token.text.utf8.count))
        self.takesAuthorization = takesAuthorization
    }

    /// What a client without a right token is told to show (RFC 9110 §11.6.1); nothing if only the path may have one.
    ///
    /// Each is a field of its own, because some clients understand one scheme a field.
    var challenges: [String] {
        guard takesAuthorization else { return [] }
        let basic = names.isEmpty ? [] : ["Basic realm=\"reprise\", charset=\"UTF-8\""]
        return ["Bearer realm=\"reprise\""] + basic
    }

    /// Notes in `head` who sent it, and takes away an `Authorization` that is meant for this server; false if it shows
    /// no token.
    ///
    /// A browser's token counts in the path only: a password that it remembers would be sent for pages of other sites.
    func identify(_ head: inout ClientHead) -> Bool {
        head.tokens = texts
        let inPath = holder(of: head.target.utf8.dropFirst().prefix { $0 != UInt8(ascii: "/") })
        // Beside a token in the path, Authorization is the origin's, unless it is one of ours.
        let inField = takesAuthorization ? head.value("authorization").flatMap(holder(showing:)) : nil
        if inField != nil { head.removeAuthorization() }
        if let inPath {
            head.sender = Sender(holder: inPath, isInPath: true)
        } else if let inField, !head.mayBeFromBrowser {
            head.sender = Sender(holder: inField, isInPath: false)
        }
        return head.sender != nil
    }

    private func holder(showing field: String) -> TokenHolder? {
        switch Credentials(field) {
        case .bearer(let token): holder(of: token.utf8)
        case .basic(let user, let password):
            holder(of: password.utf8).flatMap { $0.name == user ? $0 : nil }
        case nil: nil
        }
    }

    private func holder(of text: some Collection<UInt8>) -> TokenHolder? {
        guard lengths.contains(text.count) else { return nil }
        let digest = Self.digest(of: text)
        var found: TokenHolder?
        for entry in entries where entry.digest == digest { found = entry.holder }
        return found
    }

    private static func digest(of text: some Collection<UInt8>) -> SHA256.Digest {
        var hash = SHA256()
        let isDone: Void? = text.withContiguousStorageIfAvailable { hash.update(bufferPointer: .init($0)) }
        if isDone == nil { hash.update(data: Array(text)) }
        return hash.finalize()
    }
}
