package import Reprise

/// The complete body of a representation, and what an editor needs in order to change its links.
package struct GatheredBody: Sendable {
    package var bytes: [UInt8]
    /// The metadata of the representation.
    package let information: ContentInformation
    /// The file that was requested.
    package let resource: MediaResource
    /// How many removals of titles came before the read; now if it is `nil` (``MediaRead/removedTitleCount``).
    package var removedTitleCount: Int?
    /// The requested URL.
    package var url: ResourceURL { resource.url }
    /// The URL that answered after redirects, to which relative links refer.
    package var base: ResourceURL { information.finalURL ?? url }
    /// What the client's request targets have before `/https/host/path`: a slash and the token, or nothing.
    ///
    /// A link that begins with it leads back to this proxy, under whatever name the client knows it.
    package let prefix: String
    /// The name and port by which the client knows the proxy, for links that must be absolute; `nil` if it gave none.
    package let host: String?
    /// The scheme of the proxy's own address, for the same links.
    package var scheme = "http"
    /// Whether the origin must not be asked, or could not be reached.
    package var isWithoutOrigin = false
    /// Whether its host could not be reached a moment ago, although this body can be used without asking it.
    package var isHostAway = false
    /// Who asked for it; `nil` in a cache of one user.
    var requester: Requester?
    /// Whether every request is answered with it, so that what it says counts for all.
    var isForEveryone = true
}
