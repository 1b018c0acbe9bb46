/// Where a link leads, or why it must stay as it is.
package enum LinkTarget: Hashable, Sendable {
    /// An absolute `http` or `https` URI without user information, to be fetched through the cache.
    case fetchable(URIReference)
    /// A link that is never fetched and never edited.
    case leftAlone(Reason)

    /// Why a link is left alone.
    package enum Reason: Hashable, Sendable {
        /// Another scheme, in lower case: `data`, `skd`, `urn`, `file`.
        case scheme(String)
        /// There is a user name or a password, which must not get into a key, a log or a file name.
        case userInformation
        /// There is no host, or the base is not absolute.
        case noHost
        /// The link cannot be read: an undefined variable, a control character, too long an expansion,
        /// or a playlist whose budget is exceeded.
        case unreadable(PlaylistError.Code)
    }

    /// Resolves `reference` in a document at `base`.
    package init(_ reference: URIReference, base: URIReference) {
        self.init(resolved: reference.resolved(against: base))
    }

    /// Judges a reference that was resolved.
    init(resolved target: URIReference) {
        guard target.isHTTP else {
            self = .leftAlone(target.scheme.map { .scheme($0) } ?? .noHost)
            return
        }
        guard target.hasAuthority else {
            self = .leftAlone(.noHost)
            return
        }
        self = target.hasUserInformation ? .leftAlone(.userInformation) : .fetchable(target)
    }
}
